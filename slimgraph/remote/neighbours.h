// One adjacency list, wherever it lies: valid during the call that it is handed to.
#pragma once

#include <cstring>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph {

struct Neighbours {
  std::span<const VertexId> ids;
  const std::byte* weights = nullptr;  // parallel to the ids, in the file's type; null: none
  // So many ids follow in memory, of lists that are visited next; 0 where that is not known.
  std::size_t behind = 0;

  template <typename Weight>
  Weight weight(std::size_t i) const {
    Weight value;
    std::memcpy(&value, weights + i * sizeof(Weight), sizeof value);
    return value;
  }
};

}  // namespace slimgraph
