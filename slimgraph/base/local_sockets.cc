#include "slimgraph/base/local_sockets.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace slimgraph {
namespace {

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  // Leaves `size` 0 if the name is too long.
  explicit AbstractAddress(std::string_view name) {
    static_assert(kMaxLocalName == sizeof address.sun_path - 1);
    if (name.size() > kMaxLocalName) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

UniqueFd WithErrno(int error) {
  errno = error;
  return {};
}

}  // namespace

UniqueFd ListenLocally(std::string_view name, int backlog) {
  const AbstractAddress address(name);
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {};
  if (::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), backlog) != 0) {
    const int error = errno;
    fd.Reset();
    return WithErrno(error);
  }
  return fd;
}

UniqueFd ConnectLocally(std::string_view name) {
  const AbstractAddress address(name);
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd) return {};
  if (::connect(fd.get(), address.get(), address.size) != 0) {
    const int error = errno;
    fd.Reset();
    return WithErrno(error);
  }
  return fd;
}

pid_t PeerOfThisUser(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return 0;
  return who.uid == ::getuid() ? who.pid : 0;
}

}  // namespace slimgraph
