// A UDP socket on this node's address, for short messages that may get lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class DatagramSocket {
 public:
  static Result<DatagramSocket> Open(const std::string& host);

  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }

  // Neither call blocks. Receive returns the whole size of the next datagram, even if `into` is
  // smaller.
  void Send(const SocketAddress& to, Bytes bytes) const;
  std::optional<std::size_t> Receive(MutableBytes into, SocketAddress& from) const;

 private:
  UniqueFd socket_;
  std::uint16_t port_ = 0;
};

}  // namespace slimgraph
