#include "slimgraph/fabric/internal/wake_socket.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "slimgraph/launch/job.h"

namespace slimgraph {

Result<WakeSocket> WakeSocket::Open(Job& job) {
  SLIM_ASSIGN(DatagramSocket socket, DatagramSocket::Open(job.address(job.self())));
  WakeSocket wake(std::move(socket));
  wake.event_.Reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.event_) return EnvironmentError("cannot make an event: {}", std::strerror(errno));
  const std::uint16_t port = wake.socket_.port();
  const std::string_view word(reinterpret_cast<const char*>(&port), sizeof port);
  SLIM_ASSIGN(const std::vector<std::string> words, job.Exchange(word));
  for (NodeId node = 0; node < job.nodes(); ++node) {
    std::uint16_t peer_port = 0;
    if (words[node].size() != sizeof peer_port) {
      return EnvironmentError("node {} does not speak mpi as this one does", node);
    }
    std::memcpy(&peer_port, words[node].data(), sizeof peer_port);
    SLIM_ASSIGN(const auto address, DatagramSocket::Resolve(job.address(node), peer_port));
    wake.addresses_.push_back(address);
  }
  return wake;
}

void WakeSocket::Wake(NodeId node) { socket_.Send(addresses_[node], {}); }

void WakeSocket::WakeSelf() {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &once, sizeof once);
}

bool WakeSocket::Sleep(std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  std::array<pollfd, 2> polls{{{.fd = socket_.fd(), .events = POLLIN, .revents = 0},
                               {.fd = event_.get(), .events = POLLIN, .revents = 0}}};
  if (::ppoll(polls.data(), polls.size(), &time, nullptr) <= 0) return false;
  std::array<std::byte, 8> ignored;
  DatagramSocket::Address from;
  while (socket_.Receive(ignored, from)) {
  }
  [[maybe_unused]] const auto read = ::read(event_.get(), ignored.data(), ignored.size());
  return true;
}

}  // namespace slimgraph
