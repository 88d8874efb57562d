// A UDP socket on this node's address, for short words that may get lost.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class DatagramSocket {
 public:
  struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0;
  };
  static Result<Address> Resolve(const std::string& host, std::uint16_t port);

  static Result<DatagramSocket> Open(const std::string& host);

  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }

  // Neither blocks. Receive: how many bytes the next datagram has, also when they do not all fit.
  void Send(const Address& to, Bytes bytes) const;
  std::optional<std::size_t> Receive(MutableBytes into, Address& from) const;

 private:
  UniqueFd socket_;
  std::uint16_t port_ = 0;
};

}  // namespace slimgraph
