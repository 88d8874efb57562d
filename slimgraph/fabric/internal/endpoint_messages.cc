// Messages of an endpoint: sending in order, queueing while there is no room, handling and
// acknowledging.
#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/fabric/bandwidth_quota.h"
#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/fabric/handlers.h"
#include "slimgraph/fabric/internal/persistent_writes.h"
#include "slimgraph/fabric/network_model.h"

namespace slimgraph {
namespace {

constexpr HandlerId kAcknowledgement = 0xFFFF;  // a message that carries nothing else
constexpr std::uint32_t kAcknowledgeEvery = 64;

}  // namespace

std::size_t Endpoint::IndexOf(EndpointAddress peer) const {
  return std::size_t{peer.node} * context_.endpoints + peer.endpoint;
}

std::uint32_t Endpoint::Send(EndpointAddress to, HandlerId handler, Bytes body) {
  SLIM_CHECK(body.size() <= kMaxMessageBytes, "a message of {} bytes", body.size());
  if (peer_states_.empty()) {
    peer_states_.resize(std::size_t{context_.nodes} * context_.endpoints);
  }
  const std::size_t index = IndexOf(to);
  PeerState& peer = peer_states_[index];
  if (handler != kAcknowledgement) ++peer.sent;
  peer.reported = peer.handled;
  Message message{address_, handler, peer.handled, 0, body};
  std::uint64_t send_at_ns = 0;
  if (to.node != address_.node) {
    TrafficCount& count = traffic_.at(stage_, to.node, TrafficKind::kMessage);
    ++count.operations;
    count.payload_bytes += body.size();
    count.header_bytes += kMessageHeaderBytes;
    if (faults_.any()) {
      if (faults_.cut(to.node)) return peer.sent;
      if (const auto delay = faults_.DrawDelayNs(to.node, !channel_->loses_datagrams()); delay > 0)
        message.due_ns = SharedNowNs() + delay;
    }
    if (context_.model) {
      message.due_ns = std::max(
          message.due_ns, context_.model->Book(to.node, kMessageHeaderBytes + body.size(), 0));
    }
    message.due_ns = peer.last_due_ns = std::max(message.due_ns, peer.last_due_ns);
    // Not as due_ns: the receiver may be on another host, whose clock tells another time.
    if (context_.quota) {
      send_at_ns = context_.quota->Book(to.node, kMessageHeaderBytes + body.size()).begin_ns;
    }
  }
  if (peer.backlog || send_at_ns != 0 || !channel_->Send(to, message)) {
    if (!peer.backlog) {
      peer.backlog = std::make_unique<std::deque<BufferedMessage>>();
      backlogged_.push_back(static_cast<std::uint32_t>(index));
    }
    peer.backlog->push_back({message, {body.begin(), body.end()}, send_at_ns});
  }
  return peer.sent;
}

void Endpoint::SendBacklog() {
  const auto drained = [this](std::uint32_t index) {
    const EndpointAddress to{index / context_.endpoints, index % context_.endpoints};
    auto& backlog = peer_states_[index].backlog;
    while (!backlog->empty()) {
      const std::uint64_t send_at_ns = backlog->front().send_at_ns;
      if (send_at_ns != 0 && send_at_ns > SharedNowNs()) return false;
      backlog->front().message.body = backlog->front().body;
      if (!channel_->Send(to, backlog->front().message)) return false;
      backlog->pop_front();
    }
    backlog.reset();
    return true;
  };
  backlogged_.erase(std::remove_if(backlogged_.begin(), backlogged_.end(), drained),
                    backlogged_.end());
}

std::uint32_t Endpoint::acknowledged(EndpointAddress peer) const {
  return peer_states_.empty() ? 0 : peer_states_[IndexOf(peer)].acknowledged;
}

void Endpoint::Receive(const Message& message) {
  if (faults_.any() && faults_.cut(message.from.node)) return;
  // A message that is due already must not overtake delayed messages that have become due since
  // Progress() looked.
  if (message.due_ns != 0 && (!delayed_messages_.empty() || message.due_ns > SharedNowNs())) {
    delayed_messages_.Add(message.due_ns,
                          BufferedMessage{message, {message.body.begin(), message.body.end()}});
  } else {
    Deliver(message);
  }
}

void Endpoint::Deliver(const Message& message) {
  if (peer_states_.empty()) {
    peer_states_.resize(std::size_t{context_.nodes} * context_.endpoints);
  }
  PeerState& peer = peer_states_[IndexOf(message.from)];
  peer.acknowledged = std::max(peer.acknowledged, message.acknowledged);
  if (message.handler == kAcknowledgement) return;
  ++delivered_;
  if (PersistentWrites::Handles(message.handler)) {
    persistent_writes().Handle(message);
  } else {
    if (!std::exchange(handling_, true)) context_.handlers.BeginUse(address_.endpoint);
    const MessageHandler* const handler = context_.handlers.Find(message.handler);
    SLIM_CHECK(handler != nullptr, "no handler {} for a message of node {}", message.handler,
               message.from.node);
    (*handler)(*this, message);
  }
  ++peer.handled;
  if (peer.handled - peer.reported >= kAcknowledgeEvery) Send(message.from, kAcknowledgement, {});
}

}  // namespace slimgraph
