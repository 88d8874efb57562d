// Two-sided messages between a pair of endpoints: a connection of its own for each direction, from
// channel to channel, so that the receiver's socket buffer is its mailbox and a receiver that falls
// behind holds back this sender and nobody else. Not ordered with the operations of the same pair.
#pragma once

#include <functional>

#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/tcp/socket.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

class TcpOutgoingMessages : public TcpLink {
 public:
  TcpOutgoingMessages(Poller& poller, UniqueFd fd, const TcpHello& hello);
  ~TcpOutgoingMessages() override;

  // False when there is no room now.
  bool Send(const Message& message);
  void OnReady() override;
  // The receiver is dead: what has not left vanishes, and so does all that follows.
  void Lose() { Disconnect(); }

 private:
  void FlushOrDisconnect();

  std::uint16_t from_endpoint_;
  std::uint16_t to_endpoint_;
  SendQueue out_;
};

class TcpIncomingMessages : public TcpLink {
 public:
  using Receiver = std::function<void(const Message&)>;

  // Hands what arrives during OnReady() to `*receiver`.
  TcpIncomingMessages(Poller& poller, UniqueFd fd, EndpointAddress from,
                      const Receiver* const& receiver);

  void OnReady() override;

 private:
  StreamState ReceiveOne();

  EndpointAddress from_;
  const Receiver* const& receiver_;
  ReceiveBuffer in_;
};

}  // namespace slimgraph
