// The sum of values at the ids of a list.
#pragma once

#include "dgemini/vertex_array.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// Two sums, so that additions do not wait for each other; always in the same order. With `ahead`,
// what lies so far behind is asked for early, for it lies anywhere.
template <std::size_t ahead>
double SumAt(const VertexArray<double>& values, std::span<const VertexId> ids) {
  double even = 0;
  double odd = 0;
  const VertexId* id = ids.data();
  const VertexId* const end = id + ids.size();
  const auto take = [&] {
    if constexpr (ahead > 0) __builtin_prefetch(&values[id[ahead]]);
    return values[*id++];
  };
  while (end - id > 1) {
    even += take();
    odd += take();
  }
  return id < end ? even + take() + odd : even + odd;
}

inline double SumAt(const VertexArray<double>& values, const Neighbours& list) {
  constexpr std::size_t kAhead = 64;
  return list.after >= kAhead ? SumAt<kAhead>(values, list.ids) : SumAt<0>(values, list.ids);
}

}  // namespace slimgraph
