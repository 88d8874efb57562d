// Two-sided messages between a pair of endpoints. Each direction has its own connection, from
// channel to channel, so the receiver's socket buffer is its mailbox. A slow receiver holds back
// only this sender. Messages are not ordered with operations of the same pair.
#pragma once

#include <functional>
#include <optional>

#include "slimgraph/base/clock.h"
#include "slimgraph/fabric/internal/tcp/link.h"
#include "slimgraph/fabric/internal/tcp/opening.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

// The first node that could not be reached, although it may live, so that messages were lost.
struct UnreachableNode {
  std::optional<NodeId> node;
  std::uint64_t since_ns = 0;

  void Note(NodeId lost) {
    if (node) return;
    node = lost;
    since_ns = NowNs();
  }
};

class TcpOutgoingMessages : public TcpLink {
 public:
  TcpOutgoingMessages(Poller& poller, TcpOpened opened, NodeId to, UnreachableNode& unreachable);
  ~TcpOutgoingMessages() override;

  // Returns false when there is no room now.
  bool Send(const Message& message);
  void OnReady() override;
  // The receiver is dead: unsent and later messages are dropped.
  void Lose() { Disconnect(); }

 private:
  void FlushOrDisconnect();
  void End(StreamState state);

  std::uint16_t from_endpoint_;
  std::uint16_t to_endpoint_;
  SendQueue out_;
  const NodeId to_;
  UnreachableNode& unreachable_;
};

class TcpIncomingMessages : public TcpLink {
 public:
  using Receiver = std::function<void(const Message&)>;

  // Passes messages that arrive during OnReady() to `*receiver`.
  TcpIncomingMessages(Poller& poller, UniqueFd fd, EndpointAddress from,
                      const std::optional<TcpStreamKeys>& keys, const Receiver* const& receiver,
                      UnreachableNode& unreachable);

  void OnReady() override;

 private:
  StreamState ReceiveOne();

  EndpointAddress from_;
  const Receiver* const& receiver_;
  ReceiveBuffer in_;
  UnreachableNode& unreachable_;
};

}  // namespace slimgraph
