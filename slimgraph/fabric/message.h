// Small two-sided messages between endpoints.
#pragma once

#include <cstdint>

#include "slimgraph/base/types.h"

namespace slimgraph {

// Identifies a thread's endpoint on a node.
struct EndpointAddress {
  NodeId node = 0;
  std::uint32_t endpoint = 0;

  friend bool operator==(const EndpointAddress&, const EndpointAddress&) = default;
};

// Identifies the function that receives a message; the same on all nodes.
using HandlerId = std::uint16_t;

constexpr std::size_t kMaxMessageBytes = 32 << 10;

struct Message {
  EndpointAddress from;
  HandlerId handler = 0;
  std::uint32_t acknowledged = 0;  // how many messages from the receiver the sender has handled
  std::uint64_t due_ns = 0;        // the network model's arrival time; 0: at once
  Bytes body;
};

}  // namespace slimgraph
