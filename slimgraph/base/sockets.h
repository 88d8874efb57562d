// Host addresses, and TCP sockets. Sockets within a machine are in local_sockets.h.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// An IPv4 or IPv6 address, with a port.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::string host() const;  // in numeric form
  std::uint16_t port() const;
};

// `host` is a name or an address.
Result<SocketAddress> Resolve(const std::string& host, std::uint16_t port);
SocketAddress LocalAddress(int fd);
SocketAddress PeerAddress(int fd);

// This host's IPv4 addresses. Addresses that other hosts can reach come first, loopback comes last.
std::vector<std::string> HostAddresses();

// Listens on a free port of `host` ("0.0.0.0" for all addresses of this host). The socket is
// non-blocking.
Result<UniqueFd> ListenTcp(const std::string& host);

// A socket that has begun to connect; it becomes writable once it is connected. It is non-blocking.
Result<UniqueFd> StartConnecting(const SocketAddress& address);

// A connected socket in blocking mode.
Result<UniqueFd> ConnectTcp(const SocketAddress& address, std::chrono::nanoseconds limit);

// The same, to "host:port".
Result<UniqueFd> ConnectTo(std::string_view address, std::chrono::nanoseconds limit);

// The next connection to a listening socket, in blocking mode unless SOCK_NONBLOCK is given. If
// there is none, returns nothing, and errno says why.
UniqueFd Accept(int listener, int flags = 0);

// These return how many bytes they have sent or received, 0 at the end of a connection, or -1 and
// errno. Sending into a broken connection is an error, not a signal. Receiving never waits.
ssize_t SendBytes(int fd, Bytes bytes);
ssize_t SendParts(int fd, std::span<iovec> parts);
ssize_t ReceiveBytes(int fd, MutableBytes into);
ssize_t ReceiveParts(int fd, std::span<iovec> parts);

// Ends a connection in both directions, or after what has been sent.
void ShutDown(int fd);
void EndSending(int fd);

// Sending on a blocking socket fails if it has waited for so long.
void LimitSending(int fd, std::chrono::seconds limit);

void SetSocketOption(int fd, int level, int option, int value);

// Sets TCP_NODELAY: small packets are sent at once, even while earlier ones are unacknowledged.
void SendWithoutDelay(int fd);

}  // namespace slimgraph
