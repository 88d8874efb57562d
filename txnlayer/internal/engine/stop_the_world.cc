// Stops the world for the callers of StopTheWorld(), and only commits for those of
// BetweenCommits() (commit_gate.h). A stop of the world lies between two rounds, for which all
// coroutines come to rest (quiescence.h).
//
// The callers on all nodes first agree on the stop's number. When a node dies, some callers may
// reach the agreement and others may fail. Then node 0 may have announced a stop that no caller
// waits for, and each node skips it. A node knows that a caller still comes if the caller has set
// wants_stop_. All callers set it before any of them can have agreed.
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/waits.h"
#include "txnlayer/internal/engine/engine_thread.h"

namespace slimgraph::txn {
namespace {

template <typename Done>
void Wait(Condition& turn, std::unique_lock<Mutex>& lock, NodeId self, const char* what,
          Done done) {
  WaitAndLog(
      self, [&](auto limit) { return turn.wait_for(lock, limit, done); }, [&] { return what; });
}

}  // namespace

Result<bool> Engine::StopTheWorld(Cluster& cluster, const std::function<Status()>& work) {
  // The wait for the stop ends when another caller's node dies or gives up.
  const LossWatch watch = cluster.job().WatchLoss([this](NodeId) { TellStoppers(); });
  std::unique_lock lock(stop_mutex_);
  stop_changed_.wait(lock, [&] { return course_ != Course::kBefore; });
  wants_stop_ = true;
  const std::uint32_t next =
      1 + std::max(quiescence_.wanted(Quiescence::kStopTheWorld), stop_number_);
  stop_number_ = 0;
  lock.unlock();
  const auto agreed = cluster.all().AllMax(next);
  lock.lock();
  const auto end = [&] {
    wants_stop_ = false;
    world_stopped_ = false;
    stop_changed_.notify_all();
  };
  if (!agreed) {
    end();
    return tl::unexpected<Error>(agreed.error());
  }
  stop_number_ = *agreed;
  stop_changed_.notify_all();
  if (self() == 0 && course_ == Course::kRunning)
    quiescence_.RequestOnNode0(Quiescence::kStopTheWorld, stop_number_);
  Wait(stop_changed_, lock, self(), "transactions to come to rest for a stop of the world",
       [&] { return world_stopped_ || course_ == Course::kOver || !cluster.job().all_alive(); });
  if (!world_stopped_) {
    end();
    if (course_ == Course::kOver) return false;
    return EnvironmentError("a node has died while transactions came to rest");
  }
  lock.unlock();
  Status done = work();
  lock.lock();
  // Normally no transaction begins before all nodes have finished the work. After a death, this
  // node waits until its engine knows of the death. Then none begins before all threads have come
  // to rest again.
  const auto knows = [&] {
    NodeId dead = 0;
    for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
      dead += cluster_.job().alive(node) ? 0 : 1;
    }
    return !replication_ || quiescence_.wanted(Quiescence::kDeath) >= dead;
  };
  if (!done) Wait(stop_changed_, lock, self(), "the report of a node's death", knows);
  end();
  if (!done) return tl::unexpected(done.error());
  return true;
}

// Transactions that are sheltered from now on do not make this wait longer.
void Engine::AwaitSheltered(Cluster& cluster) {
  const LossWatch watch = cluster.job().WatchLoss([this](NodeId) { TellStoppers(); });
  std::unique_lock lock(stop_mutex_);
  const std::uint64_t until_ns = gate_.sheltered_until_ns();
  const std::uint64_t now_ns = NowNs();
  if (until_ns <= now_ns) return;
  stop_changed_.wait_for(lock, std::chrono::nanoseconds(until_ns - now_ns), [&] {
    return gate_.sheltered_until_ns() == 0 || course_ != Course::kRunning ||
           !cluster.job().all_alive();
  });
}

Result<double> Engine::BetweenCommits(Cluster& cluster, const BetweenCommitsWork& work) {
  const LossWatch watch = cluster.job().WatchLoss([this](NodeId) { TellStoppers(); });
  bool over = false;
  std::uint64_t start_ns = 0;
  {
    std::unique_lock lock(stop_mutex_);
    stop_changed_.wait(lock, [&] { return course_ != Course::kBefore; });
    start_ns = NowNs();
    if (course_ == Course::kRunning) {
      gate_.Close();
      Wait(stop_changed_, lock, self(), "commits to end, for a moment between commits", [&] {
        return gate_.settled() || course_ == Course::kOver || !cluster.job().all_alive();
      });
    }
    over = course_ == Course::kOver;
  }
  const bool reached = over || gate_.settled();
  const Result<Timestamp> chosen =
      reached ? work(over ? latest() : gate_.latest(), over)
              : EnvironmentError("a node has died while commits came to their end");
  // Threads that run no more cannot note the opening.
  if (over && chosen) AdvanceClocksPast(*chosen);
  gate_.Open(chosen.value_or(0));
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  return SecondsSince(start_ns);
}

void Engine::TellStoppers() {
  const std::lock_guard lock(stop_mutex_);
  stop_changed_.notify_all();
}

View Engine::view() const {
  const std::lock_guard lock(stop_mutex_);
  return tables_.view();
}

void Engine::AwaitRunEnd() {
  std::unique_lock lock(stop_mutex_);
  stop_changed_.wait(lock, [&] { return course_ == Course::kOver; });
}

bool Engine::AwaitRunEnd(std::chrono::milliseconds limit) {
  std::unique_lock lock(stop_mutex_);
  return stop_changed_.wait_for(lock, limit, [&] { return course_ == Course::kOver; });
}

void Engine::EndRuns() { SetCourse(Course::kOver); }

void Engine::SetCourse(Course course) {
  const std::lock_guard lock(stop_mutex_);
  course_ = course;
  stop_changed_.notify_all();
}

void Engine::RunWorkInStoppedWorld() {
  std::unique_lock lock(stop_mutex_);
  const std::uint32_t number = quiescence_.number(Quiescence::kStopTheWorld);
  Wait(stop_changed_, lock, self(), "all nodes to agree on a stop of the world",
       [&] { return !wants_stop_ || stop_number_ != 0; });
  if (wants_stop_ && stop_number_ == number) {
    world_stopped_ = true;
    stop_changed_.notify_all();
    Wait(stop_changed_, lock, self(), "the work in a stopped world to end",
         [&] { return !world_stopped_; });
  }
  quiescence_.MarkDone(Quiescence::kStopTheWorld);
}

Timestamp Engine::latest() const {
  Timestamp latest = 0;
  for (const auto& thread : threads_) latest = std::max(latest, thread->clock.Latest());
  return latest;
}

void Engine::ApplyLogs() {
  if (!replication_) return;
  replication_->ApplyAllLogs();
  replication_->ForgetOrphans();
  for (const auto& thread : threads_) thread->log.MarkEmpty();
}

void Engine::ForgetTuples() {
  for (const auto& thread : threads_) {
    thread->cache.Clear();
    if (thread->companion) thread->companion->ForgetTuples();
  }
}

void Engine::AdvanceClocksPast(Timestamp latest) {
  for (const auto& thread : threads_) thread->clock.AdvancePast(latest);
}

}  // namespace slimgraph::txn
