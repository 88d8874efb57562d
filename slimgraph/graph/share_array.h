// An array in this node's memory, on one NUMA socket, that all other nodes can read.
#pragma once

#include <cstdint>
#include <span>

#include "slimgraph/fabric/fabric.h"
#include "slimgraph/graph/numa.h"

namespace slimgraph {

// Collective, as Fabric::Share is. Sets `id` to the region's id.
template <typename T>
Result<std::span<T>> ShareArray(Fabric& fabric, std::uint64_t count, std::uint32_t socket,
                                RegionId& id) {
  SLIM_ASSIGN(const SharedRegion region,
              fabric.Share(count * sizeof(T),
                           [socket](MutableBytes memory) { return BindMemory(memory, socket); }));
  id = region.id;
  return std::span(reinterpret_cast<T*>(region.memory.data()), count);
}

}  // namespace slimgraph
