#include "slimgraph/fabric/internal/wake_socket.h"

#include <array>
#include <cstring>

#include "slimgraph/launch/job.h"

namespace slimgraph {

Result<WakeSocket> WakeSocket::Open(Job& job) {
  SLIM_ASSIGN(DatagramSocket socket, DatagramSocket::Open(job.address(job.self())));
  SLIM_ASSIGN(Event event, Event::Make());
  WakeSocket wake(std::move(socket), std::move(event));
  const std::uint16_t port = wake.socket_.port();
  const std::string_view word(reinterpret_cast<const char*>(&port), sizeof port);
  SLIM_ASSIGN(const std::vector<std::string> words, job.Exchange(word));
  for (NodeId node = 0; node < job.nodes(); ++node) {
    std::uint16_t peer_port = 0;
    if (words[node].size() != sizeof peer_port) {
      return EnvironmentError("node {} runs another slimgraph: use the same version on all", node);
    }
    std::memcpy(&peer_port, words[node].data(), sizeof peer_port);
    SLIM_ASSIGN(const auto address, Resolve(job.address(node), peer_port));
    wake.addresses_.push_back(address);
  }
  return wake;
}

void WakeSocket::Wake(NodeId node) { socket_.Send(addresses_[node], {}); }

bool WakeSocket::Sleep(std::chrono::nanoseconds limit) {
  std::array<pollfd, 2> polls{{{.fd = socket_.fd(), .events = POLLIN, .revents = 0},
                               {.fd = event_.fd(), .events = POLLIN, .revents = 0}}};
  Poll(polls, limit);
  if (polls[0].revents == 0 && polls[1].revents == 0) return false;
  std::array<std::byte, 8> ignored;
  SocketAddress from;
  while (socket_.Receive(ignored, from)) {
  }
  event_.Clear();
  return true;
}

}  // namespace slimgraph
