#include "slimgraph/launch/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace slimgraph {
namespace {

sockaddr_in ToSocketAddress(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

std::string ToText(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return text.data();
}

UniqueFd ConnectTo(const sockaddr_in& address, int timeout_ms) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  int failure = 0;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINPROGRESS) return UniqueFd();
    pollfd wait{fd.get(), POLLOUT, 0};
    socklen_t size = sizeof failure;
    if (::poll(&wait, 1, timeout_ms) != 1 ||
        ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
      return UniqueFd();
    }
  }
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace

Result<UniqueFd> ListenOnAnyPort(const char* address) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in any = ToSocketAddress(address, 0);
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(fd.get(), 256) != 0) {
    return EnvironmentError("cannot listen on {}: {}", address, std::strerror(errno));
  }
  return fd;
}

std::uint16_t PortOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Result<UniqueFd> ConnectToAny(std::string_view addresses, int timeout_ms) {
  std::string_view rest = addresses;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t colon = one.rfind(':');
    std::uint16_t port = 0;
    if (colon == std::string_view::npos) continue;
    std::from_chars(one.data() + colon + 1, one.data() + one.size(), port);
    UniqueFd fd = ConnectTo(ToSocketAddress(std::string(one.substr(0, colon)), port), timeout_ms);
    if (fd) return fd;
  }
  return EnvironmentError(
      "cannot reach node 0 at {}; name an address that all hosts reach in SLIMGRAPH_HOST",
      addresses);
}

void SetUpControlSocket(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval two_seconds{2, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &two_seconds, sizeof two_seconds);
}

std::string LocalAddress(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ToText(address);
}

std::string RemoteAddress(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ToText(address);
}

std::vector<std::string> HostAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) == 0) {
    for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
      addresses.push_back(ToText(*reinterpret_cast<const sockaddr_in*>(one->ifa_addr)));
    }
    ::freeifaddrs(interfaces);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

}  // namespace slimgraph
