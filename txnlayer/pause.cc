// Moments without transactions. They lie between two rounds (rounds.cc): each thread takes note
// that one is wanted, its coroutines park instead of beginning, and tells node 0 when all have;
// what it tells says of which pause it knows, so that none is taken for another.
//
// Those who want one agree on its number first. Where nodes may die, some may come to that and
// others not; then node 0 may have told the threads of a pause that nobody has work for, and each
// node lets it pass. That one is still to come shows in that its taker has begun to agree, which
// all have before any can have agreed.
#include <algorithm>
#include <cstring>

#include "txnlayer/engine_thread.h"

namespace slimgraph::txn {
namespace {

// The number of a pause, from node 0 to all.
constexpr HandlerId kPauseHandler = 0x7A06;

}  // namespace

Result<bool> Engine::Pause(Cluster& cluster, const std::function<Status()>& work) {
  // The wait for the pause ends when one of the takers dies or gives up.
  const LossWatch watch = cluster.job().WatchLoss([this](NodeId) {
    const std::lock_guard lock(pause_mutex_);
    pause_turn_.notify_all();
  });
  std::unique_lock lock(pause_mutex_);
  pause_turn_.wait(lock, [&] { return course_ != Course::kBefore; });
  wants_pause_ = true;
  const std::uint32_t next = 1 + std::max(pauses_wanted_.load(), pause_);
  pause_ = 0;
  lock.unlock();
  const auto agreed = cluster.all().AllMax(next);
  lock.lock();
  const auto end = [&] {
    wants_pause_ = false;
    paused_ = false;
    pause_turn_.notify_all();
  };
  if (!agreed) {
    end();
    return tl::unexpected<Error>(agreed.error());
  }
  pause_ = *agreed;
  pause_turn_.notify_all();
  if (self() == 0 && course_ == Course::kRunning) {
    pauses_wanted_ = pause_;
    for (const auto& thread : threads_) thread->worker.endpoint().Wake();
  }
  pause_turn_.wait(lock,
                   [&] { return paused_ || course_ == Course::kOver || !cluster.job().whole(); });
  if (!paused_) {
    end();
    if (course_ == Course::kOver) return false;
    return EnvironmentError("a node has died while transactions came to rest");
  }
  lock.unlock();
  Status done = work();
  lock.lock();
  // Nobody begins before all are through with the work but where a death is in the way; then not
  // before the engine knows of it, and all have come together again.
  const auto knows = [&] {
    NodeId dead = 0;
    for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
      dead += cluster_.job().alive(node) ? 0 : 1;
    }
    return !replication_ || losses_ >= dead;
  };
  if (!done) pause_turn_.wait(lock, knows);
  end();
  if (!done) return tl::unexpected(done.error());
  return true;
}

void Engine::HearOfPauses() {
  cluster_.fabric().SetHandler(kPauseHandler, [this](Endpoint&, const Message& message) {
    std::uint32_t number;
    std::memcpy(&number, message.body.data(), sizeof number);
    pauses_wanted_ = number;
  });
}

// By the thread that tells of stops as well, so that neither overtakes the other.
void Engine::TellOfPauses(Thread& thread) {
  if (self() != 0 || &thread != threads_[0].get()) return;
  const std::uint32_t wanted = pauses_wanted_;
  if (wanted == pauses_told_) return;
  pauses_told_ = wanted;
  for (NodeId node = 1; node < cluster_.topology().nodes(); ++node) {
    for (std::uint32_t i = 0; i < cluster_.threads(); ++i) {
      thread.worker.endpoint().Send({node, i}, kPauseHandler, std::as_bytes(std::span(&wanted, 1)));
    }
  }
}

void Engine::AwaitEnd() {
  std::unique_lock lock(pause_mutex_);
  pause_turn_.wait(lock, [&] { return course_ == Course::kOver; });
}

bool Engine::AwaitEnd(std::chrono::milliseconds limit) {
  std::unique_lock lock(pause_mutex_);
  return pause_turn_.wait_for(lock, limit, [&] { return course_ == Course::kOver; });
}

void Engine::EndPauses() { SetCourse(Course::kOver); }

void Engine::SetCourse(Course course) {
  const std::lock_guard lock(pause_mutex_);
  course_ = course;
  pause_turn_.notify_all();
}

void Engine::LetWork() {
  std::unique_lock lock(pause_mutex_);
  const std::uint32_t number = pauses_at_stop_;
  pause_turn_.wait(lock, [&] { return !wants_pause_ || pause_ != 0; });
  if (wants_pause_ && pause_ == number) {
    paused_ = true;
    pause_turn_.notify_all();
    pause_turn_.wait(lock, [&] { return !paused_; });
  }
  pauses_done_ = number;
}

Timestamp Engine::latest() const {
  Timestamp latest = 0;
  for (const auto& thread : threads_) latest = std::max(latest, thread->clock.Latest());
  return latest;
}

void Engine::TakeInLogs() {
  if (!replication_) return;
  replication_->TakeInAll();
  replication_->ForgetOrphans();
  for (const auto& thread : threads_) thread->log.Settle();
}

void Engine::ForgetTuples() {
  for (const auto& thread : threads_) {
    thread->cache.Clear();
    if (thread->companion) thread->companion->LetGo();
  }
}

void Engine::StartAfter(Timestamp latest) {
  for (const auto& thread : threads_) thread->clock.Saw(latest);
}

}  // namespace slimgraph::txn
