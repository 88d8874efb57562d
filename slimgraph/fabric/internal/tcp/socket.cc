#include "slimgraph/fabric/internal/tcp/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace slimgraph {

namespace {

constexpr int kSilenceS = 3;

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> Resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) {
    return EnvironmentError("cannot find the address of {}: {}", host, ::gai_strerror(status));
  }
  return AddressList(list, &::freeaddrinfo);
}

Result<UniqueFd> MakeSocket(const addrinfo& address) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return EnvironmentError("cannot make a socket: {}", std::strerror(errno));
  return fd;
}

void SetOption(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

Result<TcpToken> MakeTcpToken() {
  TcpToken token;
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return EnvironmentError("cannot draw a random token: {}", std::strerror(errno));
  }
  return token;
}

Result<UniqueFd> ListenTcp(const std::string& host, std::uint16_t& port) {
  SLIM_ASSIGN(const AddressList address, Resolve(host, 0));
  SLIM_ASSIGN(UniqueFd fd, MakeSocket(*address));
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (::bind(fd.get(), address->ai_addr, address->ai_addrlen) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) {
    return EnvironmentError("cannot take connections on {}: {}", host, std::strerror(errno));
  }
  port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  return fd;
}

Result<UniqueFd> StartTcpConnection(const TcpContact& contact) {
  SLIM_ASSIGN(const AddressList address, Resolve(contact.host, contact.port));
  SLIM_ASSIGN(UniqueFd fd, MakeSocket(*address));
  TuneTcp(fd.get());
  if (::connect(fd.get(), address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
    return EnvironmentError("cannot connect to {}:{}: {}", contact.host, contact.port,
                            std::strerror(errno));
  }
  return fd;
}

void TuneTcp(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, kSilenceS);
}

}  // namespace slimgraph
