// One adjacency list, in any memory of this node. It is valid during the call that receives it.
#pragma once

#include <cstring>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph {

struct Neighbours {
  std::span<const VertexId> ids;
  const std::byte* weights = nullptr;  // parallel to the ids, in the file's type; null without
  // The number of ids after this list in memory that belong to the lists visited next; 0 if
  // unknown.
  std::size_t ids_following = 0;

  template <typename Weight>
  Weight weight(std::size_t i) const {
    Weight value;
    std::memcpy(&value, weights + i * sizeof(Weight), sizeof value);
    return value;
  }
};

}  // namespace slimgraph
