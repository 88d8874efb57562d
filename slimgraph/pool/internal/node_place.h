// What a node of a pool is told through its environment when it is started.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph::internal {

constexpr const char* kPoolNodeVariable = "SLIMGRAPH_POOL_NODE";
constexpr int kPoolListener = 3;  // the descriptor of the socket on which it accepts clients

struct NodePlace {
  NodeId node = 0;
  NodeId nodes = 1;
  NodeId copies = 1;  // how many parts it keeps: its own, and those of the nodes before it
  std::uint64_t memory_bytes = 0;
  std::string key = {};
  std::string log = {};  // on another host: the node removes it when the pool is stopped

  std::string ToText() const;
};
// Only once: the variable is removed, since it has the key.
Result<NodePlace> TakeNodePlace();

}  // namespace slimgraph::internal
