// The values of vertices lie anywhere: they are asked for before they are needed.
#pragma once

#include <cstddef>
#include <span>

#include "dgemini/vertex_array.h"

namespace slimgraph {

// So many vertices before.
constexpr std::size_t kLookAhead = 16;

// What `holder` will look at for `v`, if it tells by At(v). Inline, or GCC takes it for a function
// without effects, and drops the call.
template <typename Holder>
[[gnu::always_inline]] inline void AskFor(const Holder& holder, VertexId v) {
  if constexpr (requires { holder.At(v); }) __builtin_prefetch(holder.At(v));
}

// body(i, v) for the list's vertices in order; it looks at values[v].
template <typename T, typename Body>
void WithValues(const VertexArray<T>& values, std::span<const VertexId> ids, Body body) {
  // What a short list needs, the processor asks for by itself.
  if (ids.size() < kLookAhead) {
    for (std::size_t i = 0; i < ids.size(); ++i) body(i, ids[i]);
    return;
  }
  for (std::size_t i = 0; i < kLookAhead; ++i) __builtin_prefetch(&values[ids[i]]);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kLookAhead < ids.size()) __builtin_prefetch(&values[ids[i + kLookAhead]]);
    body(i, ids[i]);
  }
}

}  // namespace slimgraph
