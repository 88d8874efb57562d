#include "slimgraph/launch/internal/launcher_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/local_sockets.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {
namespace {

constexpr std::size_t kNumFds = 2;
constexpr std::uint64_t kIntroductionNs = 3'000'000'000;
constexpr std::size_t kRandomCharacters = 16;  // in the name of a launcher's socket

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
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
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

Result<std::unique_ptr<LauncherLink>> LauncherLink::OpenFromEnvironment(NodeId self) {
  const char* const name = std::getenv(kLauncherVariable);
  if (name == nullptr) return std::unique_ptr<LauncherLink>();
  if (std::strlen(name) > kMaxLocalName) {
    return EnvironmentError("{} is not a launcher's socket: it has {} characters, more than {}",
                            kLauncherVariable, std::strlen(name), kMaxLocalName);
  }
  UniqueFd socket = ConnectLocally(name);
  if (!socket) {
    return EnvironmentError("the command that started this node is gone ({}: {})", name,
                            std::strerror(errno));
  }
  static_cast<void>(::send(socket.get(), &self, sizeof self, MSG_NOSIGNAL));
  const auto fds = ReceiveFds(socket.get());
  if (!fds) return EnvironmentError("the command that started this node is gone ({})", name);
  for (std::size_t i = 0; i < kNumFds; ++i) {
    ::dup2((*fds)[i], STDOUT_FILENO + static_cast<int>(i));
    ::close((*fds)[i]);
  }
  return std::unique_ptr<LauncherLink>(new LauncherLink(std::move(socket)));
}

void LauncherLink::ReportExit(int exit_code, std::string_view line) const {
  std::string packet(reinterpret_cast<const char*>(&exit_code), sizeof exit_code);
  packet += line;
  static_cast<void>(::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL));
}

Result<LauncherSocket> LauncherSocket::Listen() {
  SLIM_ASSIGN(const std::string random, NewSecret());
  LauncherSocket launcher;
  launcher.name_ = fmt::format("slimgraph-{}-{}", ::getpid(), random.substr(0, kRandomCharacters));
  launcher.listener_ = ListenLocally(launcher.name_, kMaxNodes);
  if (!launcher.listener_) {
    return EnvironmentError("cannot listen on a local socket: {}", std::strerror(errno));
  }
  return launcher;
}

std::optional<LauncherSocket::Node> LauncherSocket::Accept() const {
  while (true) {
    Node node;
    node.socket.Reset(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!node.socket) return std::nullopt;
    node.pid = PeerOfThisUser(node.socket.get());
    if (node.pid == 0) continue;
    node.deadline_ns = NowNs() + kIntroductionNs;
    return node;
  }
}

bool LauncherSocket::Introduce(Node& node) {
  NodeId number = 0;
  if (::recv(node.socket.get(), &number, sizeof number, MSG_DONTWAIT) != sizeof number ||
      number >= kMaxNodes || !SendFds(node.socket.get(), {STDOUT_FILENO, STDERR_FILENO})) {
    return false;
  }
  node.number = number;
  return true;
}

std::optional<NodeExit> ReadExit(int socket) {
  std::array<char, 4096> packet{};
  const ssize_t n = ::recv(socket, packet.data(), packet.size(), MSG_DONTWAIT);
  NodeExit exit;
  if (n < static_cast<ssize_t>(sizeof exit.exit_code)) return std::nullopt;
  std::memcpy(&exit.exit_code, packet.data(), sizeof exit.exit_code);
  exit.line.assign(packet.data() + sizeof exit.exit_code,
                   static_cast<std::size_t>(n) - sizeof exit.exit_code);
  return exit;
}

}  // namespace slimgraph
