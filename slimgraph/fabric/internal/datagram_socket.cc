#include "slimgraph/fabric/internal/datagram_socket.h"

#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

namespace slimgraph {

Result<DatagramSocket::Address> DatagramSocket::Resolve(const std::string& host,
                                                        std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) {
    return EnvironmentError("cannot find the address of {}: {}", host, ::gai_strerror(status));
  }
  Address address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  address.bytes = list->ai_addrlen;
  ::freeaddrinfo(list);
  return address;
}

Result<DatagramSocket> DatagramSocket::Open(const std::string& host) {
  SLIM_ASSIGN(Address own, Resolve(host, 0));
  DatagramSocket made;
  made.socket_.Reset(::socket(own.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  auto* name = reinterpret_cast<sockaddr*>(&own.storage);
  if (!made.socket_ || ::bind(made.fd(), name, own.bytes) != 0 ||
      ::getsockname(made.fd(), name, &own.bytes) != 0) {
    return EnvironmentError("cannot receive datagrams on {}: {}", host, std::strerror(errno));
  }
  made.port_ =
      ntohs(own.storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(name)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(name)->sin_port);
  return made;
}

void DatagramSocket::Send(const Address& to, Bytes bytes) const {
  ::sendto(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&to.storage), to.bytes);
}

std::optional<std::size_t> DatagramSocket::Receive(MutableBytes into, Address& from) const {
  from.bytes = sizeof from.storage;
  const auto bytes = ::recvfrom(fd(), into.data(), into.size(), MSG_TRUNC | MSG_DONTWAIT,
                                reinterpret_cast<sockaddr*>(&from.storage), &from.bytes);
  return bytes < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(bytes));
}

}  // namespace slimgraph
