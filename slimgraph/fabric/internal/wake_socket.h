// What a service thread sleeps on if nothing else can wake it: datagrams of other nodes, and an
// event of this node. The contents of a datagram are ignored.
#pragma once

#include <chrono>
#include <vector>

#include "slimgraph/base/datagram_socket.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class Job;

class WakeSocket {
 public:
  // Collective.
  static Result<WakeSocket> Open(Job& job);

  void Wake(NodeId node);

  // May be called from any thread of this node.
  void WakeSelf() { event_.Set(); }

  // Returns whether it was woken before `limit`.
  bool Sleep(std::chrono::nanoseconds limit);

 private:
  WakeSocket(DatagramSocket socket, Event event)
      : socket_(std::move(socket)), event_(std::move(event)) {}

  DatagramSocket socket_;
  Event event_;
  std::vector<SocketAddress> addresses_;  // by node
};

}  // namespace slimgraph
