// How queue pairs of two nodes find each other: the side that asks makes its own, and sends its
// address in a datagram to the other node's service until that answers with the address of the
// queue pair that it has made for it. Asking twice does no harm.
#pragma once

#include <array>

#include "slimgraph/fabric/internal/datagram_socket.h"
#include "slimgraph/fabric/internal/tcp/socket.h"
#include "slimgraph/fabric/internal/verbs/queue_pair.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

// Where a node's service is asked, and the secret that it wants to hear.
struct VerbsContact {
  DatagramSocket::Address address;
  TcpToken token{};
};

struct VerbsRequest {
  TcpHello hello;
  std::uint32_t lane = 0;  // which of the asker's queue pairs for the same
  VerbsAddress address;
};

// A bit for each region that a node has taken back.
using VerbsRevoked = std::array<std::uint64_t, kMaxRegions / 64>;

struct VerbsReply {
  TcpToken token{};               // of the answering node
  std::uint32_t asking_pair = 0;  // the queue pair that asked
  VerbsAddress address;           // queue pair 0: none could be made
  VerbsRevoked revoked{};
};

}  // namespace slimgraph
