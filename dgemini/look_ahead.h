// The values of a list's vertices lie anywhere: they are asked for before they are needed.
#pragma once

#include <algorithm>
#include <span>

#include "dgemini/vertex_array.h"

namespace slimgraph {

// body(i, v) for the list's vertices in order; it looks at values[v].
template <typename T, typename Body>
void WithValues(const VertexArray<T>& values, std::span<const VertexId> ids, Body body) {
  constexpr std::size_t kAhead = 16;
  const std::size_t first = std::min(kAhead, ids.size());
  for (std::size_t i = 0; i < first; ++i) __builtin_prefetch(&values[ids[i]]);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) __builtin_prefetch(&values[ids[i + kAhead]]);
    body(i, ids[i]);
  }
}

}  // namespace slimgraph
