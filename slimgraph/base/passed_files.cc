#include "slimgraph/base/passed_files.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace slimgraph {

Result<std::pair<UniqueFd, UniqueFd>> MakeLocalConnection() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return EnvironmentError("cannot make a socket: {}", std::strerror(errno));
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status PassFiles(int fd, std::string_view text, const std::vector<int>& files) {
  if (text.empty() || text.size() > kMaxPassedText || files.size() > kMaxPassedFiles) {
    return EnvironmentError("cannot pass {} files and {} bytes in one message", files.size(),
                            text.size());
  }
  iovec part{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPassedFiles * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
  }
  while (::sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return EnvironmentError("cannot pass files: {}", std::strerror(errno));
  }
  return {};
}

Result<std::optional<PassedFiles>> ReceiveFiles(int fd) {
  PassedFiles received;
  received.text.resize(kMaxPassedText);
  iovec part{.iov_base = received.text.data(), .iov_len = received.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPassedFiles * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t bytes = -1;
  do {
    bytes = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0) return EnvironmentError("cannot receive files: {}", std::strerror(errno));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(header) + i * sizeof(int), sizeof file);
      received.files.emplace_back(file);
    }
  }
  // Files that exceed this process's limit are lost without an error of recvmsg.
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return EnvironmentError("cannot receive files: this process may open no more; raise ulimit -n");
  }
  if (bytes == 0) return std::nullopt;
  received.text.resize(static_cast<std::size_t>(bytes));
  return received;
}

}  // namespace slimgraph
