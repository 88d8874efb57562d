// One-sided operations of an endpoint: collecting, splitting into parts, posting, counting and
// completing.
#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/bandwidth_quota.h"
#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/fabric/internal/execute_operation.h"
#include "slimgraph/fabric/internal/own_regions.h"
#include "slimgraph/fabric/internal/persistent_writes.h"
#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/network_model.h"

namespace slimgraph {
namespace {

// Sets what all kinds have in common. Fills in place, because there are many operations.
inline void Fill(Operation& operation, OperationKind kind, RegionId region, std::uint64_t offset,
                 std::byte* local, std::uint64_t tag, Signal signal) {
  operation.kind = kind;
  operation.reported = signal == Signal::kYes ? Reported::kEnd : Reported::kFailure;
  operation.region = region;
  operation.offset = offset;
  operation.local = local;
  operation.tag = tag;
}

}  // namespace

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

// Appends an operation, which the caller fills in.
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
  operation.reported = Reported::kEnd;
  operation.tag = tag;
}

void Endpoint::Ring() {
  for (const NodeId node : touched_) RingNode(node);
  touched_.clear();
}

// Splits the operations collected for a node into parts that any transport can carry at once.
void Endpoint::RingNode(NodeId node) {
  const auto& collected = collected_[node].operations;
  doorbell_continues_ = false;
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

std::uint64_t Endpoint::AllocatePart() {
  if (free_parts_.empty()) {
    parts_.emplace_back();
    return parts_.size() - 1;
  }
  const std::uint64_t id = free_parts_.back();
  free_parts_.pop_back();
  return id;
}

// `doomed`: an earlier part of the doorbell is known to fail, so later parts are not sent. Returns
// whether that is true after this part.
bool Endpoint::PostPart(NodeId node, std::size_t first, std::size_t count, bool doomed) {
  const std::uint64_t id = AllocatePart();
  Part& part = parts_[id];
  part.node = node;
  part.injected = false;
  part.loopback = false;
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
    if (doomed || !NeedsLoopback(part)) return ExecuteLocally(part, id, doomed);
    part.loopback = true;
    channel_->Post(id, posted, first > 0 && num_loopback_parts_ > 0);
    ++num_loopback_parts_;
    return false;
  }
  if (cache_) {
    using Taken = HostCache::Reader::Taken;
    part.stage = stage_;
    cache_->posted[node].push_back({{id, Outcome::kOk, 0}});
    const Taken taken =
        doomed || faults_.any() ? Taken::kNo : cache_->reader.Take(id, part.operations);
    if (taken == Taken::kHere) End(id, Outcome::kOk, 0);
    if (taken != Taken::kNo) return false;
  }
  const bool continues = std::exchange(doorbell_continues_, true);
  return SendPart(id, doomed, continues);
}

// Counts the part, and sends it unless it is doomed. Returns as PostPart().
bool Endpoint::SendPart(std::uint64_t id, bool doomed, bool continues) {
  Part& part = parts_[id];
  const NodeId node = part.node;
  std::span<const Operation> posted(part.operations);
  const Wire wire = Count(part);
  if (faults_.any()) [[unlikely]] {
    const auto count = static_cast<std::uint32_t>(posted.size());
    if (faults_.cut(node)) {
      End(id, Outcome::kPeerLost, 0);
      return doomed;
    }
    part.fail_at = faults_.ChooseFailure(node, count);
    part.injected = part.fail_at < count;
    posted = posted.first(part.fail_at);
    part.due_ns = SharedNowNs() + faults_.DrawDelayNs(node);
  }
  if (context_.model) {
    part.due_ns = std::max(context_.model->Book(node, wire.sent, wire.returned), part.due_ns);
  }
  if (context_.quota) {
    const auto booked = context_.quota->Book(node, wire.sent + wire.returned);
    part.due_ns = std::max(booked.end_ns, part.due_ns);
  }
  part.due_ns = last_due_ns_[node] = std::max(part.due_ns, last_due_ns_[node]);
  if (doomed) {
    ended_.push_back({id, Outcome::kFlushed, 0});
  } else if (posted.empty()) {
    ended_.push_back({id, Outcome::kOk, 0});
  } else {
    channel_->Post(id, posted, continues);
  }
  return doomed || part.injected;
}

// Atomics on the own node must use the channel if the processor's atomics are not atomic with those
// of other nodes. Operations after such atomics use it too, to keep the order.
bool Endpoint::NeedsLoopback(const Part& part) const {
  if (context_.transport.own_atomics_by_processor()) return false;
  return num_loopback_parts_ > 0 ||
         std::any_of(part.operations.begin(), part.operations.end(),
                     [](const Operation& operation) { return IsAtomic(operation.kind); });
}

bool Endpoint::ExecuteLocally(const Part& part, std::uint64_t id, bool doomed) {
  if (doomed) {
    Finish(id, Outcome::kFlushed, 0);
    return true;
  }
  for (std::uint32_t i = 0; i < part.operations.size(); ++i) {
    const Operation& operation = part.operations[i];
    Outcome outcome = Outcome::kNoRegion;
    if (const auto* const region = context_.regions.Find(operation.region)) {
      outcome = region->revoked ? Outcome::kRevoked
                                : ExecuteOperation(operation, region->memory.base,
                                                   region->memory.bytes, region->memory.writable);
    }
    if (outcome != Outcome::kOk) {
      Finish(id, outcome, i);
      return true;
    }
  }
  Finish(id, Outcome::kOk, 0);
  return false;
}

// Counts the part in the traffic statistics; returns its bytes in both directions.
Endpoint::Wire Endpoint::Count(const Part& part) {
  std::uint64_t operations[kNumOperationKinds] = {};
  std::uint64_t bytes[kNumOperationKinds] = {};
  for (const Operation& operation : part.operations) {
    ++operations[static_cast<std::size_t>(operation.kind)];
    bytes[static_cast<std::size_t>(operation.kind)] += operation.length;
  }
  TrafficCount* const of_kind = traffic_.OfAllKinds(stage_, part.node);
  Wire wire{kMessageHeaderBytes + part.operations.size() * kOperationHeaderBytes,
            kMessageHeaderBytes};
  for (std::size_t i = 0; i < kNumOperationKinds; ++i) {
    if (operations[i] == 0) continue;
    const auto kind = static_cast<OperationKind>(i);
    // Atomics have fixed lengths.
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

void Endpoint::End(std::uint64_t id, Outcome outcome, std::uint32_t failed_index) {
  if (!cache_ || parts_[id].loopback) return Finish(id, outcome, failed_index);
  auto& posted = cache_->posted[parts_[id].node];
  const auto found = std::find_if(posted.begin(), posted.end(),
                                  [id](const auto& one) { return one.part.id == id; });
  *found = {{id, outcome, failed_index}, true};
  while (!posted.empty() && posted.front().ended) {
    const EndedPart part = posted.front().part;
    posted.pop_front();
    Finish(part.id, part.outcome, part.failed_index);
  }
}

void Endpoint::HandleCacheAnswers() {
  cache_->reader.TakeAnswers(cache_->answers);
  for (const auto& [id, answer] : cache_->answers) {
    Part& part = parts_[id];
    std::uint64_t due_ns = 0;
    if (answer.bytes > 0) {
      const std::uint64_t headers = answer.reads * kOperationHeaderBytes + kMessageHeaderBytes;
      if (context_.model) {
        due_ns = context_.model->Book(part.node, headers, kMessageHeaderBytes + answer.bytes);
      }
      TrafficCount& reads = traffic_.OfAllKinds(
          part.stage, part.node)[static_cast<std::size_t>(OperationKind::kRead)];
      reads.operations += answer.reads;
      reads.payload_bytes += answer.bytes;
      reads.header_bytes += headers + kMessageHeaderBytes;
      ++reads.round_trips;
    }
    if (cache_->reader.TryCopy(part.operations)) {
      if (due_ns == 0) {
        End(id, Outcome::kOk, 0);
      } else {
        delayed_parts_.Add(due_ns, EndedPart{id, Outcome::kOk, 0});
      }
      continue;
    }
    const StageId before = std::exchange(stage_, part.stage);
    SendPart(id, /*doomed=*/false, /*continues=*/false);
    stage_ = before;
  }
}

void Endpoint::Finish(std::uint64_t id, Outcome outcome, std::uint32_t failed_index) {
  Part& part = parts_[id];
  if (part.loopback) --num_loopback_parts_;
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
    if (operation.reported == Reported::kEnd) {
      ready_.push_back({operation.tag, Outcome::kOk});
    } else if (operation.reported == Reported::kToEndpoint) {
      persistent_writes_->EndOperation(operation.tag, Outcome::kOk);
    }
  }
  for (std::size_t i = well; i < part.operations.size(); ++i) {
    const Operation& operation = part.operations[i];
    const Outcome end = i == well ? outcome : Outcome::kFlushed;
    if (operation.reported == Reported::kToEndpoint) {
      persistent_writes_->EndOperation(operation.tag, end);
    } else {
      ready_.push_back({operation.tag, end});
    }
  }
  outstanding_ -= part.operations.size();
  part.operations.clear();
  free_parts_.push_back(id);
}

}  // namespace slimgraph
