#include "slimgraph/launch/internal/launcher_link.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace slimgraph {
namespace {

constexpr std::size_t kNumFds = 2;

// An abstract name: it needs no file and vanishes with its owner.
struct AbstractAddress {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit AbstractAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

union FdMessage {
  cmsghdr align;
  std::array<char, CMSG_SPACE(sizeof(int) * kNumFds)> bytes;
};

bool SendFds(int socket, const std::array<int, kNumFds>& fds) {
  char byte = 0;
  iovec body{&byte, 1};
  FdMessage control{};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

std::optional<std::array<int, kNumFds>> ReceiveFds(int socket) {
  char byte = 0;
  iovec body{&byte, 1};
  FdMessage control{};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return std::nullopt;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  std::array<int, kNumFds> fds{};
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof fds)) return std::nullopt;
  std::memcpy(fds.data(), CMSG_DATA(header), sizeof fds);
  return fds;
}

}  // namespace

Result<std::unique_ptr<LauncherLink>> LauncherLink::OpenFromEnvironment() {
  const char* const name = std::getenv(kLauncherVariable);
  if (name == nullptr) return std::unique_ptr<LauncherLink>();
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const AbstractAddress address(name);
  if (!socket || ::connect(socket.get(), address.get(), address.size) != 0) {
    return EnvironmentError("the command that started this node is gone ({}: {})", name,
                            std::strerror(errno));
  }
  const auto fds = ReceiveFds(socket.get());
  if (!fds) return EnvironmentError("the command that started this node is gone ({})", name);
  for (std::size_t i = 0; i < kNumFds; ++i) {
    ::dup2((*fds)[i], STDOUT_FILENO + static_cast<int>(i));
    ::close((*fds)[i]);
  }
  return std::unique_ptr<LauncherLink>(new LauncherLink(std::move(socket)));
}

void LauncherLink::ReportExit(int exit_code) const {
  static_cast<void>(::send(socket_.get(), &exit_code, sizeof exit_code, MSG_NOSIGNAL));
}

Result<LauncherSocket> LauncherSocket::Listen() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = 0;
  LauncherSocket launcher;
  launcher.name_ = fmt::format("slimgraph-{}-{:016x}", ::getpid(), random);
  launcher.listener_.Reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const AbstractAddress address(launcher.name_);
  if (!launcher.listener_ || ::bind(launcher.fd(), address.get(), address.size) != 0 ||
      ::listen(launcher.fd(), kMaxNodes) != 0) {
    return EnvironmentError("cannot listen on a local socket: {}", std::strerror(errno));
  }
  return launcher;
}

std::optional<LauncherSocket::Node> LauncherSocket::Accept() const {
  Node node;
  node.socket.Reset(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!node.socket) return std::nullopt;
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(node.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 ||
      who.uid != ::getuid() || !SendFds(node.socket.get(), {STDOUT_FILENO, STDERR_FILENO})) {
    return std::nullopt;
  }
  node.pid = who.pid;
  return node;
}

std::optional<int> ReadExit(int socket) {
  int exit_code = 0;
  if (::recv(socket, &exit_code, sizeof exit_code, MSG_DONTWAIT) != sizeof exit_code) {
    return std::nullopt;
  }
  return exit_code;
}

}  // namespace slimgraph
