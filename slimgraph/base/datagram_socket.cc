#include "slimgraph/base/datagram_socket.h"

#include <cerrno>
#include <cstring>

namespace slimgraph {

Result<DatagramSocket> DatagramSocket::Open(const std::string& host) {
  SLIM_ASSIGN(const SocketAddress own, Resolve(host, 0));
  DatagramSocket made;
  made.socket_.Reset(::socket(own.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.socket_ || ::bind(made.fd(), own.get(), own.bytes) != 0) {
    return EnvironmentError("cannot receive datagrams on {}: {}", host, std::strerror(errno));
  }
  made.port_ = LocalAddress(made.fd()).port();
  return made;
}

void DatagramSocket::Send(const SocketAddress& to, Bytes bytes) const {
  ::sendto(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT, to.get(), to.bytes);
}

std::optional<std::size_t> DatagramSocket::Receive(MutableBytes into, SocketAddress& from) const {
  from.bytes = sizeof from.storage;
  const auto bytes =
      ::recvfrom(fd(), into.data(), into.size(), MSG_TRUNC | MSG_DONTWAIT, from.get(), &from.bytes);
  return bytes < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(bytes));
}

}  // namespace slimgraph
