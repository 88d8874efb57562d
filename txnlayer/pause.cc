// Moments without transactions. They lie between two rounds (rounds.cc): each thread takes note
// that one is wanted, its coroutines park instead of beginning, and tells node 0 when all have;
// what it tells says of which pause it knows, so that none is taken for another.
#include <algorithm>

#include "txnlayer/engine_thread.h"

namespace slimgraph::txn {

Result<bool> Engine::Pause(const std::function<Status()>& work) {
  std::unique_lock lock(pause_mutex_);
  pause_turn_.wait(lock, [&] { return course_ != Course::kBefore; });
  if (course_ == Course::kOver) return false;
  ++pauses_wanted_;
  for (const auto& thread : threads_) thread->worker.endpoint().Wake();
  pause_turn_.wait(lock, [&] { return paused_ || course_ == Course::kOver; });
  if (!paused_) return false;
  lock.unlock();
  Status done = work();
  lock.lock();
  paused_ = false;
  pause_turn_.notify_all();
  if (!done) return tl::unexpected(done.error());
  return true;
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
  paused_ = true;
  pause_turn_.notify_all();
  pause_turn_.wait(lock, [&] { return !paused_; });
  pauses_done_ = pauses_at_stop_.load();
}

Timestamp Engine::latest() const {
  Timestamp latest = 0;
  for (const auto& thread : threads_) latest = std::max(latest, thread->clock.Latest());
  return latest;
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
