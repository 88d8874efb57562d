#ifdef SLIMGRAPH_SIM
#include "slimgraph/fabric/internal/sim/operation_link.h"

#include <algorithm>
#include <utility>

#include "slimgraph/base/sim/network.h"
#include "slimgraph/fabric/internal/execute_operation.h"

namespace slimgraph {
namespace {

using sim::Scheduler;

constexpr std::uint64_t kNoticeNs = 100'000'000;  // how soon the end of a node may be noticed here
constexpr std::size_t kMostStretches = 4;

std::uint64_t BytesOf(std::span<const Operation> operations) {
  std::uint64_t bytes = 0;
  for (const Operation& operation : operations) bytes += operation.length;
  return bytes;
}

}  // namespace

void SimOperationLink::Post(std::uint64_t id, std::span<const Operation> operations,
                            bool continues) {
  if (lost_) {
    inbox_.ended.push_back({id, Outcome::kPeerLost, 0});
    return;
  }
  const std::uint64_t now_ns = Scheduler::Current()->now_ns();
  last_arrival_ns_ = std::max(last_arrival_ns_, now_ns + SimLatencyNs(BytesOf(operations)));
  parts_.push_back({id, operations, continues, last_arrival_ns_});
  if (executed_ + 1 == parts_.size()) StepAt(last_arrival_ns_);
}

void SimOperationLink::StepAt(std::uint64_t time_ns) {
  Scheduler::Current()->At(time_ns, [self = shared_from_this()] { self->Step(); });
}

// Executes operations until chance lets something else happen first.
void SimOperationLink::Step() {
  Scheduler& scheduler = *Scheduler::Current();
  if (abandoned_ || executed_ == parts_.size()) {  // also if the link has been lost meanwhile
    EndOperation();
    return;
  }
  if (target_->gone()) {
    // Either this is noticed here, or only when the job says so.
    EndOperation();
    if (target_->stopped || scheduler.Random(2) == 0) EndPart(Outcome::kPeerLost, 0);
    return;
  }
  // What has begun has arrived whole.
  const bool begun = region_ != nullptr;
  if (!begun && scheduler.ended(own_node_) && scheduler.Random(2) == 0) return;
  if (!begun && scheduler.network().IsCut(own_node_, target_->node)) {
    return StepAt(scheduler.now_ns() + kSimTryAgainNs);
  }
  Part& part = parts_[executed_];
  do {
    if (region_ == nullptr && !Begin(part)) return;
    const Operation& operation = part.operations[next_];
    if (!stretches_.empty()) {
      Access(operation, stretches_.back());
      stretches_.pop_back();
    }
    if (!stretches_.empty()) continue;
    EndOperation();
    if (++next_ == part.operations.size()) return EndPart(Outcome::kOk, 0);
  } while (scheduler.calibrated() || scheduler.Random(4) != 0);
  StepAt(scheduler.now_ns() + scheduler.Random(1'000));
}

// Returns false if the next operation cannot be executed.
bool SimOperationLink::Begin(Part& part) {
  if (target_->fenced.contains(self_)) return false;
  if (next_ == 0 && part.continues && failed_) {
    EndPart(Outcome::kFlushed, 0);
    return false;
  }
  const Operation& operation = part.operations[next_];
  Outcome outcome = Outcome::kNoRegion;
  const auto found = target_->regions.find(operation.region);
  if (found != target_->regions.end()) {
    outcome = found->second.revoked ? Outcome::kRevoked
                                    : CheckOperation(operation.kind, operation.offset,
                                                     operation.length, found->second.memory.bytes);
  }
  if (outcome != Outcome::kOk) {
    EndPart(outcome, next_);
    return false;
  }
  region_ = &found->second;
  ++region_->executing;
  ++target_->executing[self_];
  Cut(operation);
  return true;
}

// Divides the operation into stretches, which are accessed in any order.
void SimOperationLink::Cut(const Operation& operation) {
  Scheduler& scheduler = *Scheduler::Current();
  const std::byte* const remote = region_->memory.base + operation.offset;
  const std::uint64_t unit = KeepsWordsWhole(remote, operation.length) ? sizeof(std::uint64_t) : 1;
  std::vector<std::uint64_t> borders = {0, operation.length};
  if (!scheduler.calibrated() && !IsAtomic(operation.kind) && operation.length > unit &&
      scheduler.Random(2) == 0) {
    for (std::uint64_t i = 1 + scheduler.Random(kMostStretches - 1); i > 0; --i) {
      borders.push_back(scheduler.Random(operation.length / unit) * unit);
    }
  }
  std::ranges::sort(borders);
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    if (borders[i] < borders[i + 1]) stretches_.push_back({borders[i], borders[i + 1]});
  }
  for (std::size_t i = stretches_.size(); i > 1; --i) {
    std::swap(stretches_[i - 1], stretches_[scheduler.Random(i)]);
  }
}

void SimOperationLink::Access(const Operation& operation, const Stretch& stretch) {
  Operation part = operation;
  if (!IsAtomic(operation.kind)) {
    part.offset += stretch.from;
    part.local += stretch.from;
    part.length = stretch.to - stretch.from;
  }
  ExecuteOperation(part, region_->memory.base, region_->memory.bytes);
}

void SimOperationLink::EndOperation() {
  if (region_ == nullptr) return;
  --region_->executing;
  --target_->executing[self_];
  region_ = nullptr;
  stretches_.clear();
}

// The part has been executed as far as it can be; its end travels back.
void SimOperationLink::EndPart(Outcome outcome, std::uint32_t failed_index) {
  Scheduler& scheduler = *Scheduler::Current();
  Part& part = parts_[executed_++];
  part.outcome = outcome;
  part.failed_index = failed_index;
  failed_ = outcome != Outcome::kOk;
  next_ = 0;
  const std::uint64_t back_ns = outcome == Outcome::kPeerLost
                                    ? scheduler.Random(kNoticeNs)
                                    : SimLatencyNs(BytesOf(part.operations));
  last_report_ns_ = std::max(last_report_ns_, scheduler.now_ns() + back_ns);
  scheduler.At(last_report_ns_, [self = shared_from_this()] { self->Report(); });
  if (executed_ < parts_.size()) {
    StepAt(std::max(scheduler.now_ns(), parts_[executed_].arrives_ns));
  }
}

void SimOperationLink::Report() {
  if (abandoned_ || lost_) return;
  if (Scheduler::Current()->network().IsCut(target_->node, own_node_)) {
    last_report_ns_ = std::max(last_report_ns_, Scheduler::Current()->now_ns() + kSimTryAgainNs);
    Scheduler::Current()->At(last_report_ns_, [self = shared_from_this()] { self->Report(); });
    return;
  }
  const Part& part = parts_.front();
  inbox_.ended.push_back({part.id, part.outcome, part.failed_index});
  parts_.pop_front();
  --executed_;
  inbox_.Wake();
}

void SimOperationLink::Lose() {
  if (std::exchange(lost_, true)) return;
  EndOperation();
  for (const Part& part : parts_) inbox_.ended.push_back({part.id, Outcome::kPeerLost, 0});
  parts_.clear();
  executed_ = 0;
  next_ = 0;
}

}  // namespace slimgraph
#endif
