#include "slimgraph/fabric/internal/verbs/operation_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/fabric/internal/execute_operation.h"

namespace slimgraph {

namespace {

constexpr std::uint32_t kMostOperations = kMaxPartOperations;
constexpr std::uint64_t kRingBytes = 2 * kMaxPartBytes;
// Long operations are split into pieces, so that one piece is copied while the next one is sent.
constexpr std::uint64_t kPieceBytes = 256 << 10;

}  // namespace

VerbsOperationLink::VerbsOperationLink(Shared& shared, const VerbsContact& contact,
                                       const VerbsHello& hello, std::uint32_t lane,
                                       const VerbsRegions& regions, std::size_t port,
                                       std::unique_ptr<VerbsRing>& ring,
                                       std::vector<Channel::PartResult>& ended)
    : VerbsLink(
          shared, contact, hello, lane,
          std::min(kMostOperations, static_cast<std::uint32_t>(shared.device.limits().max_qp_wr))),
      regions_(regions),
      port_(port),
      ended_(ended),
      revoked_(kMaxRegions),
      ring_(ring) {}

void VerbsOperationLink::Post(std::uint64_t id, std::span<const Operation> operations,
                              bool continues) {
  if (lost()) {
    ended_.push_back({id, Outcome::kPeerLost, 0});
    return;
  }
  Part part{.id = id, .operations = operations, .continues = continues};
  if (continues && doomed_) {
    part.refusal = Outcome::kFlushed;
  } else {
    while (part.limit < operations.size() && part.refusal == Outcome::kOk) {
      part.refusal = Check(operations[part.limit]);
      if (part.refusal == Outcome::kOk) ++part.limit;
    }
  }
  doomed_ = part.refusal != Outcome::kOk;
  parts_.push_back(part);
  EndFinishedParts();
  OnRoom();
}

Outcome VerbsOperationLink::Check(const Operation& operation) const {
  const VerbsRegion* const region = regions_.Find(operation.node, operation.region);
  if (region == nullptr) return Outcome::kNoRegion;
  if (revoked_[operation.region]) return Outcome::kRevoked;
  return CheckOperation(operation.kind, operation.offset, operation.length, region->bytes);
}

void VerbsOperationLink::OnRoom() {
  if (next_ == parts_.size()) return;
  if (!MakeRing()) {
    OnUnusable(Outcome::kFailed);
    return;
  }
  if (!ready()) {
    Connect();
    return;
  }
  shared().chain.Clear();
  while (next_ < parts_.size()) {
    Part& part = parts_[next_];
    while (part.posted < part.limit && Add(part)) {
    }
    if (part.posted < part.limit) break;
    ++next_;
  }
  PostChain();
}

bool VerbsOperationLink::MakeRing() {
  if (ring_) return true;
  auto made = VerbsRing::Make(shared().device, kRingBytes);
  if (made) ring_ = std::move(*made);
  return made.has_value();
}

// Adds the next operation of the part, or the next piece of it, to the chain. Returns false if it
// must wait for room, or for earlier operations.
bool VerbsOperationLink::Add(Part& part) {
  if (room() <= shared().chain.size()) return false;
  const Operation& operation = part.operations[part.posted];
  if (MustWait(operation.kind)) return false;
  const std::uint64_t left = operation.length - part.pieces;
  const auto bytes = static_cast<std::uint32_t>(std::min(left, kPieceBytes));
  const bool travels_inline = operation.kind == OperationKind::kWrite && bytes <= inline_bytes();
  std::byte* const staged = travels_inline || bytes == 0 ? nullptr : ring_->Take(bytes);
  if (staged == nullptr && !travels_inline && bytes > 0) return false;
  ibv_send_wr& request = Stage(operation, part.pieces, bytes, staged);
  if (travels_inline && bytes > 0) request.send_flags |= IBV_SEND_INLINE;
  if (operation.kind == OperationKind::kRead) reads_ahead_ = true;
  if (IsAtomic(operation.kind)) atomics_ahead_ = true;
  const bool returns = operation.kind != OperationKind::kWrite && operation.local != nullptr;
  const bool last = bytes == left;
  requests_.push_back({.staged = staged,
                       .local = returns ? operation.local + part.pieces : nullptr,
                       .bytes = bytes,
                       .last = last,
                       .released = ring_->position()});
  part.pieces = last ? 0 : part.pieces + bytes;
  if (last) ++part.posted;
  return true;
}

ibv_send_wr& VerbsOperationLink::Stage(const Operation& operation, std::uint64_t at,
                                       std::uint32_t bytes, std::byte* staged) {
  const VerbsRegion& region = *regions_.Find(operation.node, operation.region);
  const std::uint64_t remote = region.address + operation.offset + at;
  const std::uint32_t key = region.keys[port_];
  const std::byte* const local = operation.local + at;
  if (operation.kind == OperationKind::kWrite && staged != nullptr) {
    std::memcpy(staged, local, bytes);
  }
  ibv_send_wr& request =
      shared().chain.Add(staged != nullptr ? staged : local, bytes, ring_->key());
  switch (operation.kind) {
    case OperationKind::kRead:
      request.opcode = IBV_WR_RDMA_READ;
      break;
    case OperationKind::kWrite:
      request.opcode = IBV_WR_RDMA_WRITE;
      break;
    case OperationKind::kCompareSwap:
      request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
      break;
    case OperationKind::kFetchAdd:
      request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      break;
  }
  if (operation.kind == OperationKind::kCompareSwap) {
    request.wr.atomic = {remote, operation.expected, operation.operand, key};
  } else if (operation.kind == OperationKind::kFetchAdd) {
    request.wr.atomic = {remote, operation.operand, 0, key};
  } else {
    request.wr.rdma = {remote, key};
  }
  return request;
}

// A target may execute a write while an earlier read or atomic is still in progress, and an atomic
// while a read is (InfiniBand specification 1.4, table 79). So they wait here until those have
// completed. The device could wait instead (IBV_SEND_FENCE). But Soft-RoCE then waits forever after
// a retransmission: it counts requests that it has already sent among those to wait for.
bool VerbsOperationLink::MustWait(OperationKind kind) const {
  if (kind == OperationKind::kWrite) return reads_ahead_ || atomics_ahead_;
  return IsAtomic(kind) && reads_ahead_;
}

void VerbsOperationLink::OnDone(std::size_t count) {
  for (; count > 0; --count) {
    const Request& request = requests_.front();
    if (request.local != nullptr && request.bytes > 0) {
      std::memcpy(request.local, request.staged, request.bytes);
    }
    ring_->Release(request.released);
    const bool last = request.last;
    requests_.pop_front();
    if (!last) continue;
    ++parts_.front().done;
    EndFinishedParts();
  }
  if (requests_.empty()) reads_ahead_ = atomics_ahead_ = false;
}

void VerbsOperationLink::EndFinishedParts() {
  while (!parts_.empty() && parts_.front().done == parts_.front().limit) {
    End(parts_.front(), parts_.front().refusal, parts_.front().limit);
    parts_.pop_front();
    if (next_ > 0) --next_;
  }
}

void VerbsOperationLink::End(const Part& part, Outcome outcome, std::size_t failed_index) {
  const std::size_t index = outcome == Outcome::kOk ? 0 : failed_index;
  ended_.push_back({part.id, outcome, static_cast<std::uint32_t>(index)});
}

// Without an answer the reason is unknown: a target whose region was revoked may also just be
// silent. The node's service knows the reason when the link reconnects, unless the node turns out
// to be dead.
void VerbsOperationLink::OnError(Outcome outcome) {
  requests_.clear();
  ring_->Release(ring_->position());
  reads_ahead_ = atomics_ahead_ = false;
  if (outcome == Outcome::kPeerLost) {
    awaits_failure_reason_ = true;
    Connect();
    return;
  }
  const bool refused = outcome == Outcome::kRevoked;
  if (refused) revoked_[parts_.front().operations[parts_.front().done].region] = true;
  FailFrontPart(outcome, refused);
  OnRoom();
}

void VerbsOperationLink::OnConnected(const VerbsReply& reply) {
  for (std::size_t region = 0; region < revoked_.size(); ++region) {
    if ((reply.revoked[region / 64] >> region % 64 & 1) != 0) revoked_[region] = true;
  }
  if (!std::exchange(awaits_failure_reason_, false)) return;
  const Part& front = parts_.front();
  FailFrontPart(
      revoked_[front.operations[front.done].region] ? Outcome::kRevoked : Outcome::kPeerLost,
      false);
}

// Ends the front part with `outcome`, and flushes the parts that continue it. If the target itself
// refused the request, it executed none of the later parts, so they are posted again. Otherwise it
// is unknown whether later parts that were posted have been executed, so they fail too.
void VerbsOperationLink::FailFrontPart(Outcome outcome, bool refused) {
  End(parts_.front(), outcome, parts_.front().done);
  parts_.pop_front();
  bool failed = true;
  std::deque<Part> kept;
  for (Part& part : parts_) {
    const bool tried = part.posted > 0 || part.pieces > 0;
    if (failed && part.continues) {
      End(part, Outcome::kFlushed, 0);
    } else if (tried && !refused) {
      End(part, outcome == Outcome::kRevoked ? Outcome::kPeerLost : outcome, 0);
      failed = true;
    } else {
      part.posted = 0;
      part.pieces = 0;
      kept.push_back(part);
      failed = false;
    }
  }
  if (failed) doomed_ = true;
  parts_.swap(kept);
  next_ = 0;
  EndFinishedParts();
}

void VerbsOperationLink::OnUnusable(Outcome outcome) {
  for (const Part& part : parts_) End(part, outcome, part.done);
  if (!parts_.empty()) doomed_ = true;
  parts_.clear();
  next_ = 0;
  awaits_failure_reason_ = false;
  requests_.clear();
  if (ring_) ring_->Release(ring_->position());
}

}  // namespace slimgraph
