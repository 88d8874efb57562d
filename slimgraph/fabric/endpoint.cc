#include "slimgraph/fabric/endpoint.h"

#include <algorithm>
#include <thread>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/fabric.h"
#include "slimgraph/fabric/internal/carry_out.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {
namespace {

constexpr HandlerId kAcknowledgement = 0xFFFF;  // a message that carries nothing else
constexpr std::uint32_t kAcknowledgeEvery = 64;

// Shorter than a sleep can be.
constexpr std::uint64_t kNearNs = 20'000;
// Nobody wakes us when there is room again.
constexpr std::uint64_t kRoomNs = 100'000;

// What all kinds have; in place, for there are many.
inline void Fill(Operation& operation, OperationKind kind, RegionId region, std::uint64_t offset,
                 std::byte* local, std::uint64_t tag, Signal signal) {
  operation.kind = kind;
  operation.signaled = signal == Signal::kYes;
  operation.region = region;
  operation.offset = offset;
  operation.local = local;
  operation.tag = tag;
}

}  // namespace

Endpoint::Endpoint(Fabric& fabric, std::uint32_t index)
    : fabric_(fabric),
      address_{fabric.self(), index},
      traffic_(fabric.nodes()),
      collected_(fabric.nodes()),
      last_due_ns_(fabric.nodes()) {
  channel_ = fabric.transport_->OpenChannel(index, faults_);
}

Endpoint::~Endpoint() = default;

void Endpoint::Read(NodeId node, RegionId region, std::uint64_t offset, MutableBytes into,
                    std::uint64_t tag, Signal signal) {
  Fill(Collect(node, into.size()), OperationKind::kRead, region, offset, into.data(), tag, signal);
}

void Endpoint::Write(NodeId node, RegionId region, std::uint64_t offset, Bytes from,
                     std::uint64_t tag, Signal signal) {
  Fill(Collect(node, from.size()), OperationKind::kWrite, region, offset,
       const_cast<std::byte*>(from.data()), tag, signal);
}

void Endpoint::CompareSwap(NodeId node, RegionId region, std::uint64_t offset,
                           std::uint64_t expected, std::uint64_t desired, std::uint64_t* old_value,
                           std::uint64_t tag, Signal signal) {
  Operation& operation = Collect(node, sizeof(std::uint64_t));
  Fill(operation, OperationKind::kCompareSwap, region, offset,
       reinterpret_cast<std::byte*>(old_value), tag, signal);
  operation.operand = desired;
  operation.expected = expected;
}

void Endpoint::FetchAdd(NodeId node, RegionId region, std::uint64_t offset, std::uint64_t add,
                        std::uint64_t* old_value, std::uint64_t tag, Signal signal) {
  Operation& operation = Collect(node, sizeof(std::uint64_t));
  Fill(operation, OperationKind::kFetchAdd, region, offset, reinterpret_cast<std::byte*>(old_value),
       tag, signal);
  operation.operand = add;
}

// To be filled in.
Operation& Endpoint::Collect(NodeId node, std::uint64_t length) {
  SLIM_CHECK(node < collected_.size(), "node {} of {}", node, collected_.size());
  Collected& collected = collected_[node];
  if (collected.operations.empty()) touched_.push_back(node);
  collected.bytes += length;
  Operation& operation = collected.operations.emplace_back();
  operation.node = node;
  operation.length = length;
  return operation;
}

void Endpoint::SignalLast(NodeId node, std::uint64_t tag) {
  Operation& operation = collected_[node].operations.back();
  operation.signaled = true;
  operation.tag = tag;
}

void Endpoint::Ring() {
  for (const NodeId node : touched_) RingNode(node);
  touched_.clear();
}

// Cuts what was collected for a node into parts that any transport carries at once.
void Endpoint::RingNode(NodeId node) {
  const auto& collected = collected_[node].operations;
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  bool doomed = false;
  const bool cut = collected.size() > kMaxPartOperations || collected_[node].bytes > kMaxPartBytes;
  for (std::size_t i = 0; cut && i < collected.size(); ++i) {
    const bool full =
        i - first == kMaxPartOperations || bytes + collected[i].length > kMaxPartBytes;
    if (full && i > first) {
      doomed = PostPart(node, first, i - first, doomed);
      first = i;
      bytes = 0;
    }
    bytes += collected[i].length;
  }
  PostPart(node, first, collected.size() - first, doomed);
  collected_[node].operations.clear();
  collected_[node].bytes = 0;
}

std::uint64_t Endpoint::TakePart() {
  if (free_parts_.empty()) {
    parts_.emplace_back();
    return parts_.size() - 1;
  }
  const std::uint64_t id = free_parts_.back();
  free_parts_.pop_back();
  return id;
}

// `doomed`: an earlier part of the doorbell is known to fail, and so the later ones do not go out.
// Returns whether that is so after this one.
bool Endpoint::PostPart(NodeId node, std::size_t first, std::size_t count, bool doomed) {
  const std::uint64_t id = TakePart();
  Part& part = parts_[id];
  part.node = node;
  part.injected = false;
  part.goes_round = false;
  part.due_ns = 0;
  auto& collected = collected_[node].operations;
  if (first == 0 && count == collected.size()) {
    part.operations.swap(collected);
  } else {
    const auto begin = collected.begin() + static_cast<std::ptrdiff_t>(first);
    part.operations.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  outstanding_ += count;
  std::span<const Operation> posted(part.operations);
  if (node == address_.node) {
    if (doomed || !GoesRound(part)) return PostHere(part, id, doomed);
    part.goes_round = true;
    channel_->Post(id, posted, first > 0 && num_going_round_ > 0);
    ++num_going_round_;
    return false;
  }
  const Wire wire = Count(part);
  if (faults_.any()) [[unlikely]] {
    if (faults_.cut(node)) {
      Finish(id, Outcome::kPeerLost, 0);
      return doomed;
    }
    part.fail_at = faults_.ChooseFailure(node, static_cast<std::uint32_t>(count));
    part.injected = part.fail_at < count;
    posted = posted.first(part.fail_at);
    part.due_ns = NowNs() + faults_.DrawDelayNs(node);
  }
  if (fabric_.model_) {
    part.due_ns = std::max(fabric_.model_->Book(node, wire.sent, wire.returned), part.due_ns);
  }
  part.due_ns = last_due_ns_[node] = std::max(part.due_ns, last_due_ns_[node]);
  if (doomed) {
    ended_.push_back({id, Outcome::kFlushed, 0});
  } else if (posted.empty()) {
    ended_.push_back({id, Outcome::kOk, 0});
  } else {
    channel_->Post(id, posted, first > 0);
  }
  return doomed || part.injected;
}

// Atomics on the own node that have to be made by whoever makes those of the others; and what comes
// behind them.
bool Endpoint::GoesRound(const Part& part) const {
  if (fabric_.transport_->own_atomics_by_processor()) return false;
  return num_going_round_ > 0 ||
         std::any_of(part.operations.begin(), part.operations.end(),
                     [](const Operation& operation) { return IsAtomic(operation.kind); });
}

bool Endpoint::PostHere(const Part& part, std::uint64_t id, bool doomed) {
  if (doomed) {
    Finish(id, Outcome::kFlushed, 0);
    return true;
  }
  for (std::uint32_t i = 0; i < part.operations.size(); ++i) {
    const Operation& operation = part.operations[i];
    Outcome outcome = Outcome::kNoRegion;
    if (const auto* const region = fabric_.FindRegion(operation.region)) {
      outcome = region->revoked ? Outcome::kRevoked
                                : CarryOut(operation, region->memory.base, region->memory.bytes);
    }
    if (outcome != Outcome::kOk) {
      Finish(id, outcome, i);
      return true;
    }
  }
  Finish(id, Outcome::kOk, 0);
  return false;
}

// In the accounts; the bytes that go out and come back.
Endpoint::Wire Endpoint::Count(const Part& part) {
  std::uint64_t operations[kNumOperationKinds] = {};
  std::uint64_t bytes[kNumOperationKinds] = {};
  for (const Operation& operation : part.operations) {
    ++operations[static_cast<std::size_t>(operation.kind)];
    bytes[static_cast<std::size_t>(operation.kind)] += operation.length;
  }
  TrafficCount* const of_kind = traffic_.OfAll(stage_, part.node);
  Wire wire{kMessageHeaderBytes + part.operations.size() * kOperationHeaderBytes,
            kMessageHeaderBytes};
  for (std::size_t i = 0; i < kNumOperationKinds; ++i) {
    if (operations[i] == 0) continue;
    const auto kind = static_cast<OperationKind>(i);
    // All atomics are of one length.
    const bool atomic = IsAtomic(kind);
    const std::uint64_t sent =
        atomic ? operations[i] * wire::SentBytes(kind, 0) : wire::SentBytes(kind, bytes[i]);
    of_kind[i].operations += operations[i];
    of_kind[i].payload_bytes += bytes[i];
    of_kind[i].header_bytes += operations[i] * kOperationHeaderBytes + (atomic ? sent : 0);
    wire.sent += sent;
    wire.returned +=
        atomic ? operations[i] * wire::ReturnedBytes(kind, 0) : wire::ReturnedBytes(kind, bytes[i]);
  }
  TrafficCount& first = of_kind[static_cast<std::size_t>(part.operations.front().kind)];
  first.header_bytes += 2 * kMessageHeaderBytes;
  ++first.round_trips;
  return wire;
}

void Endpoint::Progress() {
  channel_->Poll(ended_, [this](const Message& message) { Receive(message); });
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    const auto [id, outcome, failed_index] = ended_[i];
    const std::uint64_t due_ns = parts_[id].due_ns;
    if (due_ns == 0) [[likely]] {
      Finish(id, outcome, failed_index);
    } else {
      held_parts_.Add(due_ns, EndedPart{id, outcome, failed_index});
    }
  }
  ended_.clear();
  if (!held_parts_.empty() || !held_messages_.empty()) {
    const std::uint64_t now = NowNs();
    while (held_parts_.first_due_ns() <= now) {
      const EndedPart part = held_parts_.Take();
      Finish(part.id, part.outcome, part.failed_index);
    }
    while (held_messages_.first_due_ns() <= now) {
      HeldMessage held = held_messages_.Take();
      held.message.body = held.body;
      Deliver(held.message);
    }
  }
  if (!backlogged_.empty()) SendBacklog();
}

void Endpoint::Finish(std::uint64_t id, Outcome outcome, std::uint32_t failed_index) {
  Part& part = parts_[id];
  if (part.goes_round) --num_going_round_;
  if (outcome == Outcome::kOk && part.injected) {
    outcome = Outcome::kFailed;
    failed_index = part.fail_at;
  }
  if (faults_.any() && faults_.cut(part.node)) {
    outcome = Outcome::kPeerLost;
    failed_index = 0;
  }
  const std::size_t well = outcome == Outcome::kOk ? part.operations.size() : failed_index;
  for (std::size_t i = 0; i < well; ++i) {
    const Operation& operation = part.operations[i];
    if (operation.signaled) ready_.push_back({operation.tag, Outcome::kOk});
  }
  for (std::size_t i = well; i < part.operations.size(); ++i) {
    ready_.push_back({part.operations[i].tag, i == well ? outcome : Outcome::kFlushed});
  }
  outstanding_ -= part.operations.size();
  part.operations.clear();
  free_parts_.push_back(id);
}

std::size_t Endpoint::Poll(std::vector<Completion>& completions) {
  Progress();
  const std::size_t news = ready_.size() + std::exchange(delivered_, 0);
  if (completions.empty()) {
    completions.swap(ready_);
  } else {
    completions.insert(completions.end(), ready_.begin(), ready_.end());
    ready_.clear();
  }
  return news;
}

bool Endpoint::Wait(std::chrono::nanoseconds limit) {
  WaitUntil([this] { return HasNews() || woken_.exchange(false); }, limit);
  return HasNews();
}

void Endpoint::Wake() {
  woken_ = true;
  channel_->Wake();
}

void Endpoint::SleepUntil(std::uint64_t deadline_ns) {
  std::uint64_t until_ns = deadline_ns;
  until_ns = std::min({until_ns, held_parts_.first_due_ns(), held_messages_.first_due_ns()});
  const std::uint64_t now = NowNs();
  if (!backlogged_.empty()) until_ns = std::min(until_ns, now + kRoomNs);
  if (until_ns <= now) return;
  if (until_ns - now < kNearNs) {
    std::this_thread::yield();
  } else {
    const std::uint64_t early = until_ns == deadline_ns ? 0 : kNearNs / 2;
    channel_->Park(std::chrono::nanoseconds(until_ns - now - early));
  }
}

Outcome Endpoint::Flush() {
  Ring();
  Outcome first = Outcome::kOk;
  const auto look = [&] {
    for (const Completion& completion : ready_) {
      if (first == Outcome::kOk) first = completion.outcome;
    }
    ready_.clear();
    return outstanding_ == 0;
  };
  while (!WaitUntil(look, std::chrono::hours(1))) {
  }
  return first;
}

std::size_t Endpoint::IndexOf(EndpointAddress peer) const {
  return std::size_t{peer.node} * fabric_.endpoints() + peer.endpoint;
}

std::uint32_t Endpoint::Send(EndpointAddress to, HandlerId handler, Bytes body) {
  SLIM_CHECK(body.size() <= kMaxMessageBytes, "a message of {} bytes", body.size());
  if (correspondences_.empty()) {
    correspondences_.resize(std::size_t{fabric_.nodes()} * fabric_.endpoints());
  }
  const std::size_t index = IndexOf(to);
  Correspondence& peer = correspondences_[index];
  if (handler != kAcknowledgement) ++peer.sent;
  peer.told = peer.handled;
  Message message{address_, handler, peer.handled, 0, body};
  if (to.node != address_.node) {
    TrafficCount& count = traffic_.at(stage_, to.node, TrafficKind::kMessage);
    ++count.operations;
    count.payload_bytes += body.size();
    count.header_bytes += kMessageHeaderBytes;
    if (faults_.any()) {
      if (faults_.cut(to.node)) return peer.sent;
      if (const auto delay = faults_.DrawDelayNs(to.node, !channel_->loses_datagrams()); delay > 0)
        message.due_ns = NowNs() + delay;
    }
    if (fabric_.model_) {
      message.due_ns = std::max(
          message.due_ns, fabric_.model_->Book(to.node, kMessageHeaderBytes + body.size(), 0));
    }
    message.due_ns = peer.last_due_ns = std::max(message.due_ns, peer.last_due_ns);
  }
  if (!peer.backlog.empty() || !channel_->Send(to, message)) {
    if (peer.backlog.empty()) backlogged_.push_back(static_cast<std::uint32_t>(index));
    peer.backlog.push_back({message, {body.begin(), body.end()}});
  }
  return peer.sent;
}

void Endpoint::SendBacklog() {
  const auto drained = [this](std::uint32_t index) {
    const EndpointAddress to{index / fabric_.endpoints(), index % fabric_.endpoints()};
    auto& backlog = correspondences_[index].backlog;
    while (!backlog.empty()) {
      backlog.front().message.body = backlog.front().body;
      if (!channel_->Send(to, backlog.front().message)) return false;
      backlog.pop_front();
    }
    return true;
  };
  backlogged_.erase(std::remove_if(backlogged_.begin(), backlogged_.end(), drained),
                    backlogged_.end());
}

std::uint32_t Endpoint::acknowledged(EndpointAddress peer) const {
  return correspondences_.empty() ? 0 : correspondences_[IndexOf(peer)].acknowledged;
}

void Endpoint::Receive(const Message& message) {
  if (faults_.any() && faults_.cut(message.from.node)) return;
  // Nor does one that is due by now overtake those that have become so since Progress() looked.
  if (message.due_ns != 0 && (!held_messages_.empty() || message.due_ns > NowNs())) {
    held_messages_.Add(message.due_ns,
                       HeldMessage{message, {message.body.begin(), message.body.end()}});
  } else {
    Deliver(message);
  }
}

void Endpoint::Deliver(const Message& message) {
  if (correspondences_.empty()) {
    correspondences_.resize(std::size_t{fabric_.nodes()} * fabric_.endpoints());
  }
  Correspondence& peer = correspondences_[IndexOf(message.from)];
  peer.acknowledged = std::max(peer.acknowledged, message.acknowledged);
  if (message.handler == kAcknowledgement) return;
  ++delivered_;
  const bool known =
      message.handler < fabric_.handlers_.size() && fabric_.handlers_[message.handler];
  SLIM_CHECK(known, "no handler {} for a message of node {}", message.handler, message.from.node);
  fabric_.handlers_[message.handler](*this, message);
  ++peer.handled;
  if (peer.handled - peer.told >= kAcknowledgeEvery) Send(message.from, kAcknowledgement, {});
}

}  // namespace slimgraph
