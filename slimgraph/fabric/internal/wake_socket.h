// What a service thread sleeps on when nothing else can wake it: a datagram of another node, or an
// event of this one. What a datagram says does not matter, only that it comes.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

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

  // From any thread of this node.
  void WakeSelf();

  // True when it was woken before the time was over.
  bool Sleep(std::chrono::nanoseconds limit);

 private:
  struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0;
  };
  static Result<Address> Resolve(const std::string& host, std::uint16_t port);

  UniqueFd socket_;
  UniqueFd event_;
  std::vector<Address> addresses_;  // by node
};

}  // namespace slimgraph
