// Prefetches the values of vertices, which are scattered in memory, before they are used.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dgemini/vertex_array.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph::dgemini {

// The prefetch distance, in vertices.
constexpr std::size_t kPrefetchDistance = 32;
// The prefetch distance if the ids of the following lists are known.
constexpr std::size_t kFarPrefetchDistance = 256;
// The locality argument of __builtin_prefetch for the second-level cache. It allows many more
// outstanding prefetches than the first-level cache.
constexpr int kPrefetchIntoL2 = 2;
constexpr std::size_t kL2CacheBytes = 512 << 10;  // arrays up to this size stay in that cache

// Prefetches what `holder` reads for `v`, if it has At(v). It must be inlined: GCC takes the
// function for one without effects, and drops a call of it.
template <typename Holder>
[[gnu::always_inline]] inline void PrefetchValue(const Holder& holder, VertexId v) {
  if constexpr (requires { holder.At(v); }) __builtin_prefetch(holder.At(v));
}

// Calls body(i, v, values[v]) for the list's vertices in order, and prefetches these values.
template <typename Values, typename Body>
void ForEachPrefetched(Values& values, const Neighbours& list, Body body) {
  auto* const data = values.data();
  const VertexId* const ids = list.ids.data();
  const std::size_t size = list.ids.size();
  std::size_t i = 0;
  if (list.ids_following > 0) {
    const std::size_t known = size + list.ids_following;
    const std::size_t asking = std::min(size, known - std::min(known, kFarPrefetchDistance));
    for (; i < asking; ++i) {
      __builtin_prefetch(data + ids[i + kFarPrefetchDistance], 0, kPrefetchIntoL2);
      body(i, ids[i], data[ids[i]]);
    }
  } else if (size >= kPrefetchDistance) {
    // Shorter lists need no prefetch: out-of-order execution loads their values early enough.
    for (std::size_t first = 0; first < kPrefetchDistance; ++first) {
      __builtin_prefetch(data + ids[first], 0, kPrefetchIntoL2);
    }
    for (; i + kPrefetchDistance < size; ++i) {
      __builtin_prefetch(data + ids[i + kPrefetchDistance], 0, kPrefetchIntoL2);
      body(i, ids[i], data[ids[i]]);
    }
  }
  for (; i < size; ++i) body(i, ids[i], data[ids[i]]);
}

// The sum of the values of a list's vertices, always in the same order. If all values fit into the
// second-level cache, it prefetches nothing, and uses several independent sums instead, so that
// additions do not wait for each other.
template <typename Sum, typename T>
Sum SumAt(const VertexArray<T>& values, const Neighbours& list) {
  constexpr std::size_t kSums = 4;
  Sum sums[kSums] = {};
  if (values.size() * sizeof(T) <= kL2CacheBytes) {
    const VertexId* const ids = list.ids.data();
    std::size_t i = 0;
    for (; i + kSums <= list.ids.size(); i += kSums) {
      for (std::size_t s = 0; s < kSums; ++s) sums[s] += values[ids[i + s]];
    }
    for (; i < list.ids.size(); ++i) sums[0] += values[ids[i]];
  } else {
    ForEachPrefetched(values, list, [&](std::size_t, VertexId, T value) { sums[0] += value; });
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace slimgraph::dgemini
