#include "slimgraph/fabric/internal/wake_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "slimgraph/launch/job.h"

namespace slimgraph {

Result<WakeSocket::Address> WakeSocket::Resolve(const std::string& host, std::uint16_t port) {
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

Result<WakeSocket> WakeSocket::Open(Job& job) {
  const std::string& host = job.address(job.self());
  SLIM_ASSIGN(Address own, Resolve(host, 0));
  WakeSocket wake;
  wake.socket_.Reset(::socket(own.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  wake.event_.Reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  auto* name = reinterpret_cast<sockaddr*>(&own.storage);
  if (!wake.event_ || ::bind(wake.socket_.get(), name, own.bytes) != 0 ||
      ::getsockname(wake.socket_.get(), name, &own.bytes) != 0) {
    return EnvironmentError("cannot receive datagrams on {}: {}", host, std::strerror(errno));
  }
  const std::uint16_t port = ntohs(own.storage.ss_family == AF_INET6
                                       ? reinterpret_cast<sockaddr_in6&>(own.storage).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(own.storage).sin_port);
  const std::string_view word(reinterpret_cast<const char*>(&port), sizeof port);
  SLIM_ASSIGN(const std::vector<std::string> words, job.Exchange(word));
  for (NodeId node = 0; node < job.nodes(); ++node) {
    std::uint16_t peer_port = 0;
    if (words[node].size() != sizeof peer_port) {
      return EnvironmentError("node {} does not speak mpi as this one does", node);
    }
    std::memcpy(&peer_port, words[node].data(), sizeof peer_port);
    SLIM_ASSIGN(const Address address, Resolve(job.address(node), peer_port));
    wake.addresses_.push_back(address);
  }
  return wake;
}

void WakeSocket::Wake(NodeId node) {
  const Address& to = addresses_[node];
  ::sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to.storage),
           to.bytes);
}

void WakeSocket::WakeSelf() {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &once, sizeof once);
}

bool WakeSocket::Sleep(std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  std::array<pollfd, 2> polls{{{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                               {.fd = event_.get(), .events = POLLIN, .revents = 0}}};
  if (::ppoll(polls.data(), polls.size(), &time, nullptr) <= 0) return false;
  std::array<char, 8> ignored;
  while (::recv(socket_.get(), ignored.data(), ignored.size(), MSG_TRUNC) >= 0) {
  }
  [[maybe_unused]] const auto read = ::read(event_.get(), ignored.data(), ignored.size());
  return true;
}

}  // namespace slimgraph
