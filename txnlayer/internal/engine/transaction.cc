#include "txnlayer/transaction.h"

#include <algorithm>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/interleave.h"
#include "txnlayer/internal/engine/engine_thread.h"

namespace slimgraph::txn {
namespace {

// What a short transaction takes in simulations, besides its operations.
constexpr std::uint64_t kSimulatedNs = 300;
// A commit that nobody waits for keeps its frame. At most this many frames exist per coroutine.
constexpr std::size_t kMaxFrames = 4;
// Randomised exponential backoff after an abort: at most 1 us doubled with each attempt, up to 512
// us or kMostBackOffTries times the duration of the last attempt, whichever is longer. With a
// shorter backoff than transactions take, the same ones would conflict again.
constexpr std::uint64_t kBackOffNs = 1'000;
constexpr std::uint64_t kMostBackOffNs = 512'000;
constexpr std::uint64_t kMostBackOffTries = 8;
constexpr std::uint32_t kMostDoublings = 20;
// The most sweeps for which one transaction may ask while no table grows, all attempts included.
constexpr std::uint32_t kMostSweeps = 3;
// The room for placeholders that every table has at least (table.cc).
constexpr std::ptrdiff_t kPlaceholdersThatFit = 64;
// The more often locks that are taken with the read are found taken, the fewer are tried.
constexpr std::uint32_t kReadFirstAtLeast = 8;
constexpr std::uint32_t kReadFirstAtMost = 256;
constexpr std::uint64_t kRestPollNs = 200'000;
// A transaction is sheltered when so many moments have overtaken it. The next ones then wait for it
// kShelterTries times as long as its last try took, but not longer than kMostShelterNs.
constexpr std::uint32_t kOvertakenToShelter = 2;
constexpr std::uint64_t kShelterTries = 4;
constexpr std::uint64_t kMostShelterNs = 10'000'000'000;
constexpr std::uint64_t kLongNs = 3'600'000'000'000;
constexpr NodeId kNoHome = ~NodeId{0};

}  // namespace

Transaction::Transaction(Engine& engine, Task& task, std::uint32_t thread)
    : engine_(engine),
      task_(task),
      thread_(*engine.threads_[thread]),
      self_(engine.self()),
      near_(engine.options().own_home ? self_ : kNoHome),
      by_processor_(engine.cluster().fabric().atomics_by_processor()),
      orders_(engine.protocol().commits_at_timestamp()),
      owner_(OwnerOf(engine.self(), thread, task.index())),
      process_(first_process() + std::uint64_t{thread} * engine.options().coroutines +
               task.index()),
      random_(std::uint64_t{owner_} * 0x9E3779B97F4A7C15 + 1),
      figures_(thread_.figures) {
  frames_.push_back(std::make_unique<Frame>());
  frame_ = frames_.back().get();
}

Transaction::~Transaction() = default;

std::uint64_t Transaction::first_process() const {
  return std::uint64_t{engine_.self()} * engine_.cluster().threads() * engine_.options().coroutines;
}

std::uint64_t Transaction::processes() const {
  const Cluster& cluster = engine_.cluster();
  return std::uint64_t{cluster.topology().compute()} * cluster.threads() *
         engine_.options().coroutines;
}

void Transaction::Begin(bool again, std::uint64_t now_ns, bool only_reads) {
  SLIM_CHECK(!open_, "the previous transaction has not ended");
  if ((rest_expected() || begin_blocked()) && !task_.worker().failed()) {
    if (engine_.quiescence_.pending(Quiescence::kStopTheWorld)) ++figures_.stopped_begins;
    RestUntilReleased();
    now_ns = NowNs();
  }
  SimulateWork(kSimulatedNs);
  if (TakeFrame()) now_ns = NowNs();
  const bool keeps = again && engine_.protocol().keeps_timestamp() && timestamp_ != 0;
  if (!keeps || thread_.clock.IsTooOld(timestamp_, now_ns)) {
    timestamp_ = thread_.clock.NextTimestamp(owner_, now_ns);
  }
  looks_ = false;
  reads_first_ = again || left_to_read_first_ > 0;
  if (!again && left_to_read_first_ > 0) --left_to_read_first_;
  only_reads_ = only_reads && thread_.times;
  if (only_reads_) BeginReading(now_ns);
  if (!again) {
    shares_ = true;
    overtaken_ = 0;
    sweeps_asked_ = 0;
    growths_seen_ = engine_.growths_;
  }
  stages_ = engine_.options().stages;
  // Protocols whose threads agree on the forms choose them by themselves.
  if (engine_.options().mix_stages && !engine_.protocol().fetches_once()) {
    const std::uint64_t bits = Draw();
    for (std::size_t i = 0; i < kNumStages; ++i) {
      stages_.Set(static_cast<Stage>(i), ((bits >> (20 + i)) & 1) != 0);
    }
    stages_.SetAsks(((bits >> (20 + kNumStages)) & 1) != 0);
  }
  stages_.Set(Stage::kReadAt, orders_ && one_sided(Stage::kRead));
  began_ns_ = now_ns;
  if (overtaken_ >= kOvertakenToShelter) {
    engine_.gate_.Shelter(thread_.worker.index(), now_ns + shelter_ns_);
    sheltered_ = true;
  }
  moment_ = engine_.gate_.moment(thread_.worker.index());
  reason_ = AbortReason::kNone;
  conflict_ = {};
  begun_.clear();
  open_ = true;
}

// One step of Marsaglia's xorshift.
std::uint64_t Transaction::Draw() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

// Takes a frame with nothing under way. If there are several, it takes the most recently used one,
// whose memory is in the processor's caches. If there is none and no more may be made, it waits for
// the oldest, and returns true.
bool Transaction::TakeFrame() {
  bool waited = false;
  const auto idle = std::find_if(frames_.rbegin(), frames_.rend(),
                                 [](const auto& frame) { return frame->pending.left == 0; });
  if (idle != frames_.rend()) {
    std::rotate(idle.base() - 1, idle.base(), frames_.end());
  } else if (frames_.size() < kMaxFrames) {
    frames_.push_back(std::make_unique<Frame>());
  } else {
    task_.Await(frames_.front()->pending);
    waited = true;
    std::rotate(frames_.begin(), frames_.begin() + 1, frames_.end());
  }
  frame_ = frames_.back().get();
  if (frame_->logged) frame_->logged->installed = true;
  frame_->logged = nullptr;
  frame_->records.clear();
  frame_->pending.lost = false;
  frame_->accesses.clear();
  frame_->upgraded.clear();
  frame_->reread.clear();
  frame_->marks.reset();
  frame_->arrived = 0;
  frame_->index.clear();
  return waited;
}

// Whether it may end after the moments that have passed since its begin.
bool Transaction::Outlasts(bool writes) {
  const bool passed = engine_.gate_.moment(thread_.worker.index()) != moment_;
  if (!passed || engine_.protocol().MayOutlastMoment(writes)) return true;
  Fail(AbortReason::kOvertaken);
  return false;
}

bool Transaction::EnterCommit() {
  SLIM_CHECK(open_, "the transaction has ended");
  if (in_commit_) return true;
  if (looks_) return EndLooks();
  if (!FinishFetch()) return false;
  if (only_reads_) return true;
  if (!engine_.protocol().Acquire(*this)) {
    Fail(reason_);
    return false;
  }
  const std::uint32_t thread = thread_.worker.index();
  CommitGate& gate = engine_.gate_;
  const bool writes = std::any_of(frame_->accesses.begin(), frame_->accesses.end(),
                                  [](const Access* access) { return access->write; });
  if (writes && thread_.times && thread_.times->kept.crowded()) FindHorizon();
  while (writes && gate.closed(thread) && !task_.worker().failed()) task_.Idle(kLongNs);
  if (!Outlasts(writes)) return false;
  if (writes) {
    gate.Enter(thread);
    in_commit_ = true;
  }
  return true;
}

void Transaction::LeaveCommit() {
  if (std::exchange(in_commit_, false)) engine_.gate_.Leave(thread_.worker.index());
}

void Transaction::End() {
  open_ = false;
  if (!std::exchange(sheltered_, false)) return;
  if (engine_.gate_.Unshelter(thread_.worker.index())) engine_.TellStoppers();
}

bool Transaction::Commit() {
  if (!EnterCommit()) return false;
  if (only_reads_) {
    EndReading();
    End();
    ++figures_.committed;
    ++figures_.read_only;
    return true;
  }
  if (!engine_.protocol().Prepare(*this)) {
    Fail(reason_);
    return false;
  }
  for (Access* const access : accesses()) {
    if (access->write) access->CountWrite();
  }
  if (!Log()) {
    Fail(reason_);
    return false;
  }
  // Not before, as logging may take long, and room is used again after a while.
  for (Access* const access : accesses()) {
    if (access->write && thread_.times) KeepReplaced(*access);
  }
  engine_.protocol().Install(*this);
  if (thread_.times && !frame_->accesses.empty()) {
    const Timestamp time = frame_->accesses.front()->commit_timestamp;
    thread_.times->last_commit.store(time, std::memory_order_release);
  }
  LeaveCommit();
  if (frame_->logged) frame_->logged->installing = &frame_->pending;
  if (!reads_first_ && after_conflict_ > 0) --after_conflict_;
  End();
  ++figures_.committed;
  return true;
}

void Transaction::Look() {
  SLIM_CHECK(open_ && engine_.protocol().fetches_once(), "the transaction cannot look");
  engine_.protocol().Release(*this);
  looks_ = true;
}

bool Transaction::EndLooks() {
  Fail(AbortReason::kUnnamed);
  return false;
}

// What its caller concludes from looks may be wrong.
void Transaction::Abort(AbortReason reason) {
  const bool holds = !looks_ || reason == AbortReason::kNodeLost;
  Fail(holds ? reason : AbortReason::kUnnamed);
}

bool Transaction::AbortIfConsistent() {
  SLIM_CHECK(open_, "the transaction has ended");
  if (looks_) return EndLooks();
  if (!FinishFetch() || (!only_reads_ && !Outlasts(false))) return false;
  const bool consistent =
      only_reads_ || (engine_.protocol().Acquire(*this) && engine_.protocol().Prepare(*this));
  Fail(consistent ? AbortReason::kUser : reason_);
  return consistent;
}

void Transaction::Fail(AbortReason reason) {
  reason_ = reason;
  if (reason != AbortReason::kNodeLost) FinishStarted();
  // FinishStarted() may have found a dead node.
  reason = std::exchange(reason_, AbortReason::kNone);
  if (only_reads_ && open_) {
    EndReading();
    const bool by_reads = reason != AbortReason::kUser && reason != AbortReason::kNodeLost;
    figures_.read_only_aborts += by_reads ? 1 : 0;
  }
  // After a death, the repair frees all locks together.
  if (reason != AbortReason::kNodeLost) engine_.protocol().Release(*this);
  LeaveCommit();
  if (reason == AbortReason::kTableFull) {
    // Placeholder room is free again after each sweep, although other transactions may use it
    // first.
    const auto placeholders =
        std::count_if(frame_->accesses.begin(), frame_->accesses.end(),
                      [](const Access* access) { return access->only_reads(); });
    const bool may_help = conflict_.table != nullptr &&
                          (no_placeholder_room_ || engine_.SweepMayHelp(*conflict_.table));
    const bool placeholders_fit = no_placeholder_room_ && placeholders <= kPlaceholdersThatFit;
    // A table that has grown may grow again.
    if (std::exchange(growths_seen_, engine_.growths_) != engine_.growths_) sweeps_asked_ = 1;
    if (may_help && (placeholders_fit || sweeps_asked_ < kMostSweeps)) {
      if (++sweeps_asked_ > 1) engine_.AskForRoom(*conflict_.table);
      engine_.quiescence_.RequestViaNode0(Quiescence::kSweep, thread_.worker.endpoint());
    } else {
      reason = AbortReason::kNoRoom;
    }
  }
  reason_ = reason;
  if (reason == AbortReason::kLocked && !reads_first_) {
    after_conflict_ = std::min(2 * after_conflict_ + kReadFirstAtLeast, kReadFirstAtMost);
    left_to_read_first_ = after_conflict_;
  }
  if (reason == AbortReason::kOvertaken) {
    ++overtaken_;
    shelter_ns_ = std::min(kShelterTries * (NowNs() - began_ns_), kMostShelterNs);
  }
  End();
  ++figures_.aborted[static_cast<std::size_t>(reason)];
  if (task_.worker().failed()) engine_.failed_ = true;
}

bool Transaction::begin_blocked() const {
  return engine_.quiescence_.BlocksBegin(thread_.worker.index());
}

// Whether a rest will be requested soon. An operation may fail before the report of the death, and
// a sweep may have been asked for.
bool Transaction::rest_expected() const {
  return reason_ == AbortReason::kNodeLost || reason_ == AbortReason::kTableFull;
}

void Transaction::IdleUntil(std::uint64_t ns) {
  for (std::uint64_t now = NowNs(); now < ns; now = NowNs()) {
    if (begin_blocked() && !task_.worker().failed()) {
      RestUntilReleased();
    } else {
      task_.Idle(ns - now);
    }
  }
}

void Transaction::RestIfWanted() {
  if (begin_blocked() && !task_.worker().failed()) RestUntilReleased();
}

// Parks until the rest is over. Nothing of this coroutine may be under way meanwhile.
void Transaction::RestUntilReleased() {
  Drain();
  engine_.quiescence_.AwaitSentRequests(task_);
  const std::uint64_t deadline_ns = NowNs() + kDeathNoticeNs;
  while (!begin_blocked() && rest_expected() && NowNs() < deadline_ns) {
    task_.Sleep(kRestPollNs);
  }
  if (begin_blocked()) {
    while (begin_blocked() && !task_.worker().failed()) task_.Park();
    reason_ = AbortReason::kNone;  // the cause has been repaired
    return;
  }
  task_.worker().Fail({ErrorKind::kEnvironment, "a living node cannot be reached"});
  engine_.failed_ = true;
}

void Transaction::BackOff(std::uint32_t tries) {
  const std::uint64_t most = std::max(kMostBackOffNs, kMostBackOffTries * (NowNs() - began_ns_));
  const std::uint64_t wait_ns =
      Draw() % std::min(kBackOffNs << std::min(tries, kMostDoublings), most);
  IdleUntil(NowNs() + wait_ns);  // not Sleep(), as a requested rest must interrupt it
}

void Transaction::Drain() {
  for (const auto& frame : frames_) {
    task_.Await(frame->pending);
    if (frame->logged) frame->logged->installed = true;
    frame->logged = nullptr;
  }
}

std::span<Access* const> Transaction::reads() {
  reads_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(reads_),
               [](const Access* access) { return !access->write; });
  return reads_;
}

std::span<Access* const> Transaction::writes() {
  writes_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(writes_),
               [](const Access* access) { return access->write; });
  return writes_;
}

std::span<Access* const> Transaction::locked() {
  locked_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(locked_),
               [](const Access* access) { return access->locked; });
  return locked_;
}

std::span<Access* const> Transaction::WritesAmong(std::span<Access* const> accesses) {
  among_.clear();
  std::copy_if(accesses.begin(), accesses.end(), std::back_inserter(among_),
               [](const Access* access) { return access->write && !access->locked; });
  return among_;
}

Companion& Transaction::companion() { return *thread_.companion; }

std::vector<Access*>& Transaction::Scratch() {
  scratch_.clear();
  return scratch_;
}

}  // namespace slimgraph::txn
