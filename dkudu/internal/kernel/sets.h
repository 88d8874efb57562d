// Intersections and differences of ascending lists, either written out or only counted. If the
// lengths differ much, the longer list is searched; otherwise the lists are merged with vector
// instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph::dkudu {

using List = std::span<const VertexId>;

// The elements greater than `low`.
inline List Above(List list, VertexId low) {
  return {std::upper_bound(list.data(), list.data() + list.size(), low), list.data() + list.size()};
}

inline bool Contains(List list, VertexId v) {
  return std::binary_search(list.begin(), list.end(), v);
}

// Vectors are stored whole, so the memory for a result must have room for this many more elements.
constexpr std::size_t kSetSlack = 16;

// Both return the number of elements in the result. `into` has room for the shorter list
// (difference: for `from`) plus the slack; if it is null, elements are only counted.
std::size_t Intersect(List a, List b, VertexId* into);
std::size_t Subtract(List from, List without, VertexId* into);

// Intersect() for lists of similar lengths, by a merge with vector instructions.
std::size_t IntersectByMerge(List a, List b, VertexId* into);

}  // namespace slimgraph::dkudu
