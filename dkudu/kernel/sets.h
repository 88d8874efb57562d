// Intersections and differences of ascending lists, written out or counted alone. Lists of much
// different lengths are searched, others merged by vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph {

using List = std::span<const VertexId>;

// The elements after `low`.
inline List Above(List list, VertexId low) {
  return {std::upper_bound(list.data(), list.data() + list.size(), low), list.data() + list.size()};
}

inline bool Contains(List list, VertexId v) {
  return std::binary_search(list.begin(), list.end(), v);
}

// Vectors are stored whole: what results are written into has room for so many elements more.
constexpr std::size_t kSetSlack = 16;

// Both return the number of elements. `into` has room for the shorter list (difference: for `from`)
// and the slack, and may be null: then they are only counted.
std::size_t Intersect(List a, List b, VertexId* into);
std::size_t Subtract(List from, List without, VertexId* into);

}  // namespace slimgraph
