// How a connection of the tcp transport is opened and identifies itself.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

// Where a node accepts connections, and its challenge. The challenge is the same for all
// connections; against replay, a service accepts each opener's challenge only once.
struct TcpContact {
  std::string host;
  std::uint16_t port = 0;
  Challenge challenge{};
};

// Which endpoint opens a connection, and for what.
struct TcpClaims {
  static constexpr std::uint16_t kOperations = 0xffff;

  NodeId node = 0;
  std::uint16_t endpoint = 0;
  std::uint16_t to_endpoint = kOperations;  // or the endpoint that receives the messages
};

// The first bytes on a connection. On a connection for operations, the acceptor answers with its
// proof, over the same claims.
struct TcpHello {
  Challenge challenge{};
  TcpClaims claims;
  Proof proof{};
};
static_assert(sizeof(TcpHello) == 72);

// The keys with which the two sides encrypt what they send after the hello and the welcome.
struct TcpStreamKeys {
  Proof of_opener{};
  Proof of_acceptor{};
};
// Nothing: the job does not encrypt.
std::optional<TcpStreamKeys> StreamKeysOf(bool encrypts, const HandshakeKey& key,
                                          const Challenges& challenges, const TcpClaims& claims);

// A connection that this side has opened.
struct TcpOpened {
  UniqueFd fd;
  TcpClaims claims;
  Proof welcome{};  // the proof that the acceptor must send
  std::optional<TcpStreamKeys> keys;
};

// Connects and sends the hello at once, so that the acceptor need not wait for it, whatever this
// thread does next. Stops trying when `wanted` returns false.
Result<TcpOpened> OpenTcpConnection(const TcpContact& contact, const HandshakeKey& key,
                                    const TcpClaims& claims, bool encrypts,
                                    const std::function<bool()>& wanted);

// Sets TCP_NODELAY and keep-alive, so that a silent host is detected within seconds.
// TCP_USER_TIMEOUT would also end a connection whose other side only reads slowly.
void TuneTcp(int fd);

}  // namespace slimgraph
