// How queue pairs of two nodes find each other. The requester makes its queue pair, and sends the
// queue pair's address in a datagram to the other node's service. It repeats the datagram until the
// service replies with the address of the queue pair that it has made for it. Repeated requests are
// harmless.
#pragma once

#include <array>

#include "slimgraph/base/datagram_socket.h"
#include "slimgraph/fabric/internal/verbs/queue_pair.h"
#include "slimgraph/fabric/operation.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

using VerbsToken = Challenge;

// Identifies the requester.
struct VerbsHello {
  VerbsToken token{};  // of the node that receives the request
  NodeId node = 0;
  std::uint16_t endpoint = 0;
};

// The address of a node's service, and the token that requests to it must carry.
struct VerbsContact {
  SocketAddress address;
  VerbsToken token{};
};

struct VerbsRequest {
  VerbsHello hello;
  std::uint32_t lane = 0;  // which of the requester's queue pairs to this node
  VerbsAddress address;
};

// One bit per region: set if the node has revoked it.
using VerbsRevoked = std::array<std::uint64_t, kMaxRegions / 64>;

struct VerbsReply {
  VerbsToken token{};                 // of the replying node
  std::uint32_t requesting_pair = 0;  // the queue pair of the requester
  VerbsAddress address;               // queue pair 0: none could be made
  VerbsRevoked revoked{};
};

}  // namespace slimgraph
