// What a service thread sleeps on when nothing else can wake it: a datagram of another node, or an
// event of this one. What a datagram says does not matter, only that it comes.
#pragma once

#include <chrono>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/internal/datagram_socket.h"

namespace slimgraph {

class Job;

class WakeSocket {
 public:
  // Collective.
  static Result<WakeSocket> Open(Job& job);

  void Wake(NodeId node);

  // From any thread of this node.
  void WakeSelf();

  // True when it was woken before the time was over.
  bool Sleep(std::chrono::nanoseconds limit);

 private:
  explicit WakeSocket(DatagramSocket socket) : socket_(std::move(socket)) {}

  DatagramSocket socket_;
  UniqueFd event_;
  std::vector<DatagramSocket::Address> addresses_;  // by node
};

}  // namespace slimgraph
