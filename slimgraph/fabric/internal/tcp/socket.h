// Making the sockets of the tcp transport, and how a connection introduces itself.
#pragma once

#include <array>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

using TcpToken = std::array<std::byte, 16>;

// Where a node takes connections, and the secret that it wants to hear first.
struct TcpContact {
  std::string host;
  std::uint16_t port = 0;
  TcpToken token{};
};

// The first bytes on a connection.
struct TcpHello {
  static constexpr std::uint16_t kOperations = 0xffff;

  TcpToken token{};
  NodeId node = 0;
  std::uint16_t endpoint = 0;
  std::uint16_t to_endpoint = kOperations;  // or the endpoint that the messages are for
};
static_assert(sizeof(TcpHello) == 24);

Result<TcpToken> MakeTcpToken();

// A socket that takes connections on `host`; sets `port`.
Result<UniqueFd> ListenTcp(const std::string& host, std::uint16_t& port);

// Starts a connection: the socket becomes writable when it stands, or readable when it failed.
Result<UniqueFd> StartTcpConnection(const TcpContact& contact);

// No waiting for full packets; and a host that falls silent is lost within seconds. Not by
// TCP_USER_TIMEOUT, which would also end a connection whose other side is only slow to read.
void TuneTcp(int fd);

}  // namespace slimgraph
