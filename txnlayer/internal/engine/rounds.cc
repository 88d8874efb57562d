// The rounds of a run (quiescence.h). Without deaths, sweeps and stops of the world there is only
// one. Repairs after a death, sweeps and work in a stopped world take place between two rounds, so
// no transaction sees them half done.
#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/ticks.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// How often requests that wait for a lock are retried: one-sided changes of a lock notify nobody.
constexpr std::chrono::nanoseconds kLockRetryInterval{30'000};

}  // namespace

Status Engine::Run(const Body& body) {
  figures_ = {};
  repair_s_ = 0;
  stages_ended_ = 0;
  if (replication_) SLIM_TRY(replication_->CopyTables());
  quiescence_.BeginRound();
  quiescence_.WithdrawStops();
  for (const auto& thread : threads_) thread->figures = {};
  if (replication_ && !loss_watch_set_) {
    loss_watch_set_ = true;
    for (const auto& thread : threads_) thread->worker.SurviveDeaths();
    loss_watch_ = cluster_.job().WatchLoss([this](NodeId node) {
      quiescence_.NoteDeath(node);
      TellStoppers();
    });
  }
  cluster_.job().SurviveDeaths(loss_watch_set_);
  // No node sends its first message before all nodes have done all this. New transactions are
  // younger than those of earlier runs, so under every protocol they see what those have written.
  const Result<Timestamp> before = cluster_.all().AllMax(latest());
  // A death from here on counts as one during the run.
  if (!before && !cluster_.job().loss().empty()) return tl::unexpected<Error>(before.error());
  if (before) AdvanceClocksPast(*before);
  if (before && timed()) SLIM_TRY(AlignClocks());
  if (cluster_.computes()) AddTasks(body);
  SetCourse(Course::kRunning);
  const std::uint64_t start_ns = NowNs();
  const std::uint64_t start = Ticks();
  Status status = RunRounds();
  const double ns_per_tick =
      static_cast<double>(NowNs() - start_ns) / static_cast<double>(Ticks() - start);
  SetCourse(Course::kOver);
  if (!status) {
    for (const auto& thread : threads_) thread->worker.AbandonTasks();
    return status;
  }
  cluster_.job().SurviveDeaths(false);
  for (const auto& thread : threads_) figures_.Add(thread->figures);
  figures_.TicksToNs(ns_per_tick);
  return cluster_.all().Barrier();
}

// The nodes have just waited for each other, so the clocks of all are read at about the same time.
// A node whose clock is behind would read old states. After a death, clocks stay as they are.
Status Engine::AlignClocks() {
  const Result<std::uint64_t> latest =
      cluster_.all().AllMax(threads_.front()->clock.ClockAt(NowNs()));
  if (!latest && !cluster_.job().loss().empty()) return tl::unexpected<Error>(latest.error());
  const std::uint64_t now_ns = NowNs();
  for (const auto& thread : threads_) {
    if (latest) thread->clock.SetTo(*latest + options_.clock_ahead_us, now_ns);
  }
  return {};
}

Status Engine::RunRounds() {
  for (bool again = true; again;) {
    SLIM_TRY(RunOnThreads(threads_.size(), [&](std::size_t thread) {
      return RunThread(static_cast<std::uint32_t>(thread));
    }));
    SLIM_ASSIGN(again, PrepareNextRound());
  }
  return {};
}

void Engine::AddTasks(const Body& body) {
  for (std::uint32_t index = 0; index < threads_.size(); ++index) {
    for (std::uint32_t i = 0; i < options_.coroutines; ++i) {
      threads_[index]->worker.AddTask([this, index, &body](Task& task) {
        {
          Transaction transaction(*this, task, index);
          body(transaction);
          transaction.Drain();
        }
        quiescence_.AwaitSentRequests(task);
      });
    }
  }
}

Status Engine::RunThread(std::uint32_t index) {
  Thread& thread = *threads_[index];
  thread.worker.background = [this, &thread] {
    if (quiescence_.NoteRequests(thread.worker) && thread.companion) thread.companion->OnDeath();
    if (gate_.Turn(thread.worker, thread.clock)) TellStoppers();
    if (durability_) thread.commit_waits.Release(durability_->log(), thread.worker);
    if (durability_ && durability_->ledger() != nullptr) thread.ledger_server.Release(*durability_);
    const bool waits = thread.server.TryWaiting(repairing());
    if (thread.companion) return thread.companion->Work();
    return waits ? kLockRetryInterval : std::chrono::nanoseconds(0);
  };
  if (outside_turn_) HostOutsideOn(thread);
  if (thread.companion) {
    thread.worker.before_sleep = [&thread] { thread.companion->BeforeSleep(); };
  }
  return thread.worker.Run(
      quiescence_.stop(index), [&] { quiescence_.ReportAtRest(thread.worker); },
      [&] { return quiescence_.DescribeWait(thread.worker); });
}

void Engine::HostOutside(std::function<void(Worker&)> turn) {
  outside_turn_ = std::move(turn);
  outside_watch_ = cluster_.job().WatchLoss([this](NodeId) {
    const std::string loss = cluster_.job().loss();
    EndRunWith({ErrorKind::kEnvironment, loss.empty() ? "a node has died" : loss});
  });
}

// A separate function for `background`, so that engines without such threads do not test for it in
// each turn.
void Engine::HostOutsideOn(Thread& thread) {
  thread.worker.background = [this, &thread, usual = std::move(thread.worker.background)] {
    const auto wait = usual();
    if (run_ended_) {
      const std::lock_guard lock(stop_mutex_);
      thread.worker.EndAtOnce(*run_error_);
    } else if (thread.worker.failed()) {
      failed_ = true;
      thread.worker.EndAtOnce({ErrorKind::kEnvironment, "a transaction cannot reach its data"});
    }
    outside_turn_(thread.worker);
    return wait;
  };
}

void Engine::EndRunWith(const Error& error) {
  {
    const std::lock_guard lock(stop_mutex_);
    if (!run_error_) run_error_ = error;
    run_ended_ = true;
    failed_ = true;
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) cluster_.fabric().endpoint(i).Wake();
}

void Engine::FailJob(const Error& error) {
  if (outside_turn_) EndRunWith(error);
  if (!outside_turn_ || cluster_.topology().nodes() > 1) cluster_.job().Fail(error);
}

// Does the work for which the round has ended. Returns whether the coroutines continue in another
// round.
Result<bool> Engine::PrepareNextRound() {
  const bool deaths = quiescence_.due(Quiescence::kDeath);
  const bool sweeps = quiescence_.due(Quiescence::kSweep);
  const bool stops = quiescence_.due(Quiescence::kStopTheWorld);
  if (!deaths && !sweeps && !stops) return false;
  quiescence_.BeginRound();
  // Other work waits for the next round, as this work may fail on some nodes.
  if (deaths) {
    SLIM_TRY(Repair());
    return true;
  }
  if (sweeps) SLIM_TRY(Sweep());
  if (stops) RunWorkInStoppedWorld();
  return true;
}

// Flushes what companions have sent and no task awaits.
Status Engine::ResetCompanions() {
  for (const auto& thread : threads_) {
    if (thread->companion) static_cast<void>(thread->worker.endpoint().Flush());
  }
  SLIM_TRY(cluster_.all().Barrier());
  for (const auto& thread : threads_) {
    if (thread->companion) thread->companion->Reset(quiescence_.round());
  }
  return {};
}

void Engine::MaybeDieAfter(Stage stage) {
  const Death& death = options_.death;
  if (death.node != self() || death.stage != stage) return;
  if (++stages_ended_ == death.times) KillProcess();
}

}  // namespace slimgraph::txn
