#include "txnlayer/internal/engine/commit_gate.h"

#include <algorithm>

namespace slimgraph::txn {

bool CommitGate::Turn(Worker& worker, TimestampSource& clock) {
  Thread& thread = threads_[worker.index()];
  const std::uint32_t opened = opened_.load(std::memory_order_acquire);
  if (opened != thread.opened) {
    clock.AdvancePast(latest_.load(std::memory_order_relaxed));
    thread.opened = opened;
    worker.WakeIdle();
  }
  thread.closed = std::max(closed_.load(std::memory_order_acquire), thread.opened);
  if (!closed(worker.index()) || thread.inside > 0) return false;
  if (thread.settled.load(std::memory_order_relaxed) == thread.closed) return false;
  thread.latest = clock.Latest();
  thread.settled.store(thread.closed, std::memory_order_release);
  return true;
}

void CommitGate::Shelter(std::uint32_t thread, std::uint64_t until_ns) {
  Thread& its = threads_[thread];
  ++its.sheltered;
  its.sheltered_until_ns = std::max(its.sheltered_until_ns.load(), until_ns);
}

bool CommitGate::Unshelter(std::uint32_t thread) {
  Thread& its = threads_[thread];
  if (--its.sheltered > 0) return false;
  its.sheltered_until_ns = 0;
  return true;
}

std::uint64_t CommitGate::sheltered_until_ns() const {
  std::uint64_t until_ns = 0;
  for (const Thread& thread : threads_) {
    until_ns = std::max(until_ns, thread.sheltered_until_ns.load());
  }
  return until_ns;
}

void CommitGate::Close() {
  ++closed_;
  WakeAll();
}

bool CommitGate::settled() const {
  return std::all_of(threads_.begin(), threads_.end(), [this](const Thread& thread) {
    return thread.settled.load(std::memory_order_acquire) == closed_;
  });
}

Timestamp CommitGate::latest() const {
  Timestamp latest = 0;
  for (const Thread& thread : threads_) latest = std::max(latest, thread.latest);
  return latest;
}

void CommitGate::Open(Timestamp latest) {
  latest_.store(latest, std::memory_order_relaxed);
  opened_.store(closed_, std::memory_order_release);
  WakeAll();
}

void CommitGate::WakeAll() {
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    fabric_.endpoint(thread).Wake();
  }
}

}  // namespace slimgraph::txn
