// The sum of values at the ids of a list.
#pragma once

#include "dgemini/vertex_array.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Two sums, so that additions do not wait for each other; always in the same order. Lists that
// follow each other in memory are asked for far ahead of time, for processors do not look beyond a
// page by themselves; what lies behind the last of them is asked for in vain.
inline double SumAt(const VertexArray<double>& values, std::span<const VertexId> ids) {
  constexpr std::size_t kLine = 64 / sizeof(VertexId);
  constexpr std::size_t kAhead = 32 * kLine;
  double even = 0;
  double odd = 0;
  const VertexId* id = ids.data();
  const VertexId* const end = id + ids.size();
  __builtin_prefetch(id + kAhead);
  for (; static_cast<std::size_t>(end - id) >= kLine; id += kLine) {
    __builtin_prefetch(id + kAhead);
    for (std::size_t i = 0; i < kLine; i += 2) {
      even += values[id[i]];
      odd += values[id[i + 1]];
    }
  }
  for (; end - id > 1; id += 2) {
    even += values[id[0]];
    odd += values[id[1]];
  }
  return id < end ? even + values[*id] + odd : even + odd;
}

}  // namespace slimgraph
