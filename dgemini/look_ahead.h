// The values of vertices lie anywhere: they are asked for before they are needed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dgemini/vertex_array.h"
#include "slimgraph/remote/neighbours.h"

namespace slimgraph {

// So many vertices before.
constexpr std::size_t kLookAhead = 32;
// Where the lists behind are known.
constexpr std::size_t kFarAhead = 256;
// Neighbours' values: many more can be on their way into the second cache than into the first.
constexpr int kIntoSecondCache = 2;
constexpr std::size_t kSecondCacheBytes = 512 << 10;  // that surely stay there

// What `holder` will look at for `v`, if it tells by At(v). Inline, or GCC takes it for a function
// without effects, and drops the call.
template <typename Holder>
[[gnu::always_inline]] inline void AskFor(const Holder& holder, VertexId v) {
  if constexpr (requires { holder.At(v); }) __builtin_prefetch(holder.At(v));
}

// body(i, v) for the list's vertices in order; it looks at values[v].
template <typename T, typename Body>
void WithValues(const VertexArray<T>& values, const Neighbours& list, Body body) {
  const VertexId* const ids = list.ids.data();
  const std::size_t size = list.ids.size();
  std::size_t i = 0;
  if (list.behind > 0) {
    const std::size_t known = size + list.behind;
    const std::size_t asking = std::min(size, known - std::min(known, kFarAhead));
    for (; i < asking; ++i) {
      __builtin_prefetch(&values[ids[i + kFarAhead]], 0, kIntoSecondCache);
      body(i, ids[i]);
    }
  } else if (size >= kLookAhead) {
    // What a short list needs, the processor asks for by itself.
    for (std::size_t first = 0; first < kLookAhead; ++first) {
      __builtin_prefetch(&values[ids[first]], 0, kIntoSecondCache);
    }
    for (; i + kLookAhead < size; ++i) {
      __builtin_prefetch(&values[ids[i + kLookAhead]], 0, kIntoSecondCache);
      body(i, ids[i]);
    }
  }
  for (; i < size; ++i) body(i, ids[i]);
}

// The sum of the values of a list's vertices, always in the same order. Of values that are in the
// second cache anyway, nothing is asked for; then additions must not wait for each other.
template <typename T>
T SumAt(const VertexArray<T>& values, const Neighbours& list) {
  constexpr std::size_t kSums = 4;
  T sums[kSums] = {};
  if (values.size() * sizeof(T) <= kSecondCacheBytes) {
    const VertexId* const ids = list.ids.data();
    std::size_t i = 0;
    for (; i + kSums <= list.ids.size(); i += kSums) {
      for (std::size_t s = 0; s < kSums; ++s) sums[s] += values[ids[i + s]];
    }
    for (; i < list.ids.size(); ++i) sums[0] += values[ids[i]];
  } else {
    WithValues(values, list, [&](std::size_t, VertexId v) { sums[0] += values[v]; });
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace slimgraph
