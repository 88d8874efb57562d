// sockets.h and unique_fd.h over the network of a simulation. Node n has the address 10.1.x.y, and
// 127.0.0.1 is an address of all nodes.
#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "slimgraph/base/files.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sim/network.h"

namespace slimgraph {
namespace {

using sim::Network;

constexpr std::uint32_t kFirstAddress = (10U << 24) | (1U << 16);
constexpr std::uint32_t kLoopback = (127U << 24) | 1;

SocketAddress AddressOf(NodeId node, std::uint16_t port) {
  SocketAddress address;
  address.bytes = sizeof(sockaddr_in);
  auto& storage = reinterpret_cast<sockaddr_in&>(address.storage);
  storage.sin_family = AF_INET;
  storage.sin_port = htons(port);
  storage.sin_addr.s_addr = htonl(kFirstAddress + node);
  return address;
}

NodeId NodeAt(const SocketAddress& address) {
  const auto& storage = reinterpret_cast<const sockaddr_in&>(address.storage);
  const std::uint32_t number = ntohl(storage.sin_addr.s_addr);
  // All nodes are on one host as well, and the job lets them use this address.
  return number == kLoopback ? Network::Current().NodeAtPort(address.port())
                             : number - kFirstAddress;
}

auto CannotConnect(const SocketAddress& address, int cause) {
  return EnvironmentError("cannot connect to {}:{}: {}", address.host(), address.port(),
                          std::strerror(cause));
}

}  // namespace

void UniqueFd::Close(int fd) {
  if (!Network::Has(fd)) {
    files::Close(fd);
  } else if (sim::Scheduler::Current() != nullptr) {
    Network::Current().Close(fd);
  }
}

SocketAddress LocalAddress(int fd) {
  const Network& network = Network::Current();
  return AddressOf(network.EndsOf(fd).first, network.PortOf(fd));
}

SocketAddress PeerAddress(int fd) {
  const Network& network = Network::Current();
  return AddressOf(network.EndsOf(fd).second, network.PortOf(fd));
}

std::vector<std::string> HostAddresses() {
  return {AddressOf(sim::Scheduler::Current()->node(), 0).host()};
}

Result<UniqueFd> ListenTcp(const std::string& /*host*/) {
  return UniqueFd(Network::Current().Listen());
}

Result<UniqueFd> StartConnecting(const SocketAddress& address) {
  return UniqueFd(Network::Current().StartConnecting(NodeAt(address), address.port(), false));
}

Result<UniqueFd> ConnectTcp(const SocketAddress& address, std::chrono::nanoseconds limit) {
  SLIM_ASSIGN(UniqueFd fd, StartConnecting(address));
  if (!AwaitWritable(fd.get(), limit)) return CannotConnect(address, ETIMEDOUT);
  pollfd state{.fd = fd.get(), .events = POLLOUT, .revents = 0};
  Poll({&state, 1}, std::chrono::nanoseconds(0));
  if ((state.revents & POLLERR) != 0) return CannotConnect(address, ECONNREFUSED);
  Network::Current().SetBlocking(fd.get(), true);
  return fd;
}

UniqueFd Accept(int listener, int flags) {
  return UniqueFd(Network::Current().Accept(listener, (flags & SOCK_NONBLOCK) == 0));
}

ssize_t SendBytes(int fd, Bytes bytes) {
  std::array<iovec, 1> part{{{const_cast<std::byte*>(bytes.data()), bytes.size()}}};
  return SendParts(fd, part);
}

ssize_t SendParts(int fd, std::span<iovec> parts) { return Network::Current().Send(fd, parts); }

ssize_t ReceiveBytes(int fd, MutableBytes into) {
  std::array<iovec, 1> part{{{into.data(), into.size()}}};
  return ReceiveParts(fd, part);
}

ssize_t ReceiveParts(int fd, std::span<iovec> parts) {
  return Network::Current().Receive(fd, parts);
}

void ShutDown(int fd) { Network::Current().EndSending(fd, /*receiving_too=*/true); }
void EndSending(int fd) { Network::Current().EndSending(fd, /*receiving_too=*/false); }

void LimitSending(int fd, std::chrono::seconds limit) {
  Network::Current().LimitSending(fd, static_cast<std::uint64_t>(limit.count()) * 1'000'000'000);
}

void SetSocketOption(int /*fd*/, int /*level*/, int /*option*/, int /*value*/) {}
void SendWithoutDelay(int /*fd*/) {}

}  // namespace slimgraph
#endif
