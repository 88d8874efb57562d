#include "slimgraph/base/sockets.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "slimgraph/base/poller.h"

namespace slimgraph {

std::string SocketAddress::host() const {
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(get(), bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

std::uint16_t SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

Result<SocketAddress> Resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  // Without a type, getaddrinfo returns each address once per socket type.
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) {
    return EnvironmentError("cannot find the address of {}: {}", host, ::gai_strerror(status));
  }
  SocketAddress address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  address.bytes = list->ai_addrlen;
  ::freeaddrinfo(list);
  return address;
}

Result<UniqueFd> ConnectTo(std::string_view address, std::chrono::nanoseconds limit) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return EnvironmentError("'{}' is no address", address);
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  SLIM_ASSIGN(const SocketAddress found, Resolve(std::string(address.substr(0, colon)), port));
  return ConnectTcp(found, limit);
}

// The rest is defined in sim/sockets.cc for simulations.
#ifndef SLIMGRAPH_SIM
namespace {

Result<UniqueFd> MakeTcpSocket(const SocketAddress& address) {
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return EnvironmentError("cannot make a socket: {}", std::strerror(errno));
  return fd;
}

auto CannotConnect(const SocketAddress& address, int cause) {
  return EnvironmentError("cannot connect to {}:{}: {}", address.host(), address.port(),
                          std::strerror(cause));
}

}  // namespace

SocketAddress LocalAddress(int fd) {
  SocketAddress address;
  ::getsockname(fd, address.get(), &address.bytes);
  return address;
}

SocketAddress PeerAddress(int fd) {
  SocketAddress address;
  ::getpeername(fd, address.get(), &address.bytes);
  return address;
}

std::vector<std::string> HostAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) == 0) {
    for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
      SocketAddress address;
      address.bytes = sizeof(sockaddr_in);
      std::memcpy(&address.storage, one->ifa_addr, address.bytes);
      addresses.push_back(address.host());
    }
    ::freeifaddrs(interfaces);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

Result<UniqueFd> ListenTcp(const std::string& host) {
  SLIM_ASSIGN(const SocketAddress address, Resolve(host, 0));
  SLIM_ASSIGN(UniqueFd fd, MakeTcpSocket(address));
  if (::bind(fd.get(), address.get(), address.bytes) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return EnvironmentError("cannot listen on {}: {}", host, std::strerror(errno));
  }
  return fd;
}

Result<UniqueFd> StartConnecting(const SocketAddress& address) {
  SLIM_ASSIGN(UniqueFd fd, MakeTcpSocket(address));
  if (::connect(fd.get(), address.get(), address.bytes) != 0 && errno != EINPROGRESS) {
    return CannotConnect(address, errno);
  }
  return fd;
}

Result<UniqueFd> ConnectTcp(const SocketAddress& address, std::chrono::nanoseconds limit) {
  SLIM_ASSIGN(UniqueFd fd, StartConnecting(address));
  if (!AwaitWritable(fd.get(), limit)) return CannotConnect(address, ETIMEDOUT);
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) return CannotConnect(address, failure);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

UniqueFd Accept(int listener, int flags) {
  return UniqueFd(::accept4(listener, nullptr, nullptr, flags | SOCK_CLOEXEC));
}

ssize_t SendBytes(int fd, Bytes bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

ssize_t SendParts(int fd, std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t ReceiveBytes(int fd, MutableBytes into) {
  return ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
}

ssize_t ReceiveParts(int fd, std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::recvmsg(fd, &message, MSG_DONTWAIT);
}

void ShutDown(int fd) { ::shutdown(fd, SHUT_RDWR); }
void EndSending(int fd) { ::shutdown(fd, SHUT_WR); }

void LimitSending(int fd, std::chrono::seconds limit) {
  const timeval time{.tv_sec = limit.count(), .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void SetSocketOption(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

void SendWithoutDelay(int fd) { SetSocketOption(fd, IPPROTO_TCP, TCP_NODELAY, 1); }
#endif

}  // namespace slimgraph
