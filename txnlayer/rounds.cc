// A run goes in rounds: from a start of all threads to a time when all of them rest, with nothing
// under way. Without deaths there is one. After a death, what the survivors put in order lies
// between two rounds, so that no transaction sees it half done. What wants a moment without
// transactions has it between two rounds as well.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/ticks.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// All tasks of a thread have ended or parked: to endpoint 0 of node 0, and when it has this of all
// threads, back.
constexpr HandlerId kAtRestHandler = 0x7A02;
constexpr HandlerId kStopHandler = 0x7A03;
// How soon what waits for a lock looks again: nobody tells of one-sided changes.
constexpr std::chrono::nanoseconds kLookAgain{30'000};
constexpr std::chrono::milliseconds kLookForWord{1};

}  // namespace

Status Engine::Run(const Body& body) {
  figures_ = {};
  repair_s_ = 0;
  boundaries_ = 0;
  if (replication_) SLIM_TRY(replication_->CopyTables());
  ++round_;
  // One that was wanted when the last run was over already.
  pauses_wanted_ = pauses_done_.load();
  for (const auto& thread : threads_) {
    thread->figures = {};
    thread->stop = false;
  }
  if (replication_ && !loss_watch_set_) {
    loss_watch_set_ = true;
    for (const auto& thread : threads_) thread->worker.SurviveDeaths();
    loss_watch_ = cluster_.job().WatchLoss([this](NodeId node) {
      {
        const std::lock_guard lock(lost_mutex_);
        lost_.push_back(node);
        losses_.store(static_cast<std::uint32_t>(lost_.size()), std::memory_order_release);
      }
      const std::lock_guard lock(pause_mutex_);
      pause_turn_.notify_all();
    });
  }
  cluster_.job().SurviveDeaths(loss_watch_set_);
  // Nobody's first message comes before all of this.
  Status all_here = cluster_.all().Barrier();
  // A death at this moment is one of the run already.
  if (!all_here && !cluster_.job().loss().empty()) return all_here;
  if (cluster_.computes()) AddTasks(body);
  SetCourse(Course::kRunning);
  const std::uint64_t start_ns = NowNs();
  const std::uint64_t start = Ticks();
  Status status = RunRounds();
  const double ns_per_tick =
      static_cast<double>(NowNs() - start_ns) / static_cast<double>(Ticks() - start);
  SetCourse(Course::kOver);
  if (!status) {
    for (const auto& thread : threads_) thread->worker.LeaveParked();
    return status;
  }
  cluster_.job().SurviveDeaths(false);
  for (const auto& thread : threads_) figures_.Add(thread->figures);
  figures_.TicksToNs(ns_per_tick);
  return cluster_.all().Barrier();
}

Status Engine::RunRounds() {
  for (bool again = true; again;) {
    SLIM_TRY(RunOnThreads(threads_.size(), [&](std::size_t thread) {
      return RunThread(static_cast<std::uint32_t>(thread));
    }));
    SLIM_ASSIGN(again, GoOn());
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
        Settle(task);
      });
    }
  }
}

Status Engine::RunThread(std::uint32_t index) {
  Thread& thread = *threads_[index];
  thread.worker.background = [this, &thread] {
    TakeNoteOfLosses(thread);
    TellOfPauses(thread);
    TakeNote(pauses_wanted_, thread.seen_pauses, thread);
    TakeNote(sweeps_wanted_, thread.seen_sweeps, thread);
    if (durability_) thread.commit_waits.Release(durability_->log(), thread.worker);
    const bool waits = thread.server.TryWaiting(changing());
    if (thread.companion) return thread.companion->Work();
    return waits ? kLookAgain : std::chrono::nanoseconds(0);
  };
  if (thread.companion) {
    thread.worker.before_sleep = [&thread] { thread.companion->Sleeps(); };
  }
  return thread.worker.Run(thread.stop, [&] { TellAtRest(thread); });
}

// Requests that nobody waits for may still be on their way. Those that are awaited overtake none.
void Engine::Settle(Task& task) {
  Pending pending;
  std::deque<Call> calls;
  for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (node == self()) continue;
      Call& call = calls.emplace_back();
      call.to = {node, thread};
      const CallHeader header{.what = kNothingRequest};
      call.request.resize(sizeof header);
      std::memcpy(call.request.data(), &header, sizeof header);
      task.worker().Send(call, &pending);
    }
  }
  task.Await(pending);
}

void Engine::TellAtRest(Thread& thread) {
  const AtRest word{round_, thread.seen_losses, thread.seen_pauses, thread.seen_sweeps};
  thread.worker.endpoint().Send({0, 0}, kAtRestHandler, std::as_bytes(std::span(&word, 1)));
}

void Engine::HearOfRest() {
  Fabric& fabric = cluster_.fabric();
  fabric.SetHandler(kAtRestHandler, [this](Endpoint& endpoint, const Message& message) {
    AtRest& word = at_rest_[message.from.node * threads_.size() + message.from.endpoint];
    std::memcpy(&word, message.body.data(), sizeof word);
    StopIfAllRest(endpoint);
  });
  fabric.SetHandler(kStopHandler, [this](Endpoint& endpoint, const Message& message) {
    AtRest word;
    std::memcpy(&word, message.body.data(), sizeof word);
    losses_at_stop_ = word.losses;
    pauses_at_stop_ = word.pauses;
    sweeps_at_stop_ = word.sweeps;
    threads_[endpoint.address().endpoint]->stop = true;
  });
}

// On node 0: all threads of all that live rest, and know of the same deaths, pauses and sweeps.
// (That a node does not live shows a little earlier than word of its death.)
void Engine::StopIfAllRest(Endpoint& endpoint) {
  const std::uint32_t losses = losses_;
  const std::uint32_t pauses = pauses_wanted_;
  const std::uint32_t sweeps = sweeps_wanted_;
  std::uint32_t dead = 0;
  for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
    if (!cluster_.fabric().alive(node)) {
      ++dead;
      continue;
    }
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      const AtRest& word = at_rest_[node * threads_.size() + thread];
      if (word.round != round_ || word.losses != losses) return;
      if (word.pauses != pauses || word.sweeps != sweeps) return;
    }
  }
  if (dead != losses) return;
  const AtRest stop{round_, losses, pauses, sweeps};
  for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < cluster_.threads(); ++thread) {
      endpoint.Send({node, thread}, kStopHandler, std::as_bytes(std::span(&stop, 1)));
    }
  }
}

// Of how many pauses or sweeps there are to be.
void Engine::TakeNote(std::uint32_t wanted, std::uint32_t& seen, Thread& thread) {
  if (wanted == seen) return;
  seen = wanted;
  thread.worker.TellAgain();
  thread.worker.WakeIdle();
}

void Engine::TakeNoteOfLosses(Thread& thread) {
  if (losses_.load(std::memory_order_acquire) == thread.seen_losses) return;
  const std::lock_guard lock(lost_mutex_);
  for (; thread.seen_losses < lost_.size(); ++thread.seen_losses) {
    thread.worker.Lose(lost_[thread.seen_losses]);
  }
  if (thread.companion) thread.companion->Lose();
}

std::vector<NodeId> Engine::lost() const {
  const std::lock_guard lock(lost_mutex_);
  return {lost_.begin(), lost_.begin() + repaired_};
}

// Whether the coroutines go on in another round, after what has happened in the last.
Result<bool> Engine::GoOn() {
  const bool pauses = pauses_at_stop_ != pauses_done_;
  const bool changes = losses_at_stop_ != repaired_;
  const bool sweeps = sweeps_at_stop_ != sweeps_done_;
  if (!pauses && !changes && !sweeps) return false;
  ++round_;
  for (const auto& thread : threads_) thread->stop = false;
  // What else there is to do waits for the next round, for this may not come to an end everywhere.
  if (changes) {
    SLIM_TRY(Repair());
    return true;
  }
  if (sweeps) SLIM_TRY(Sweep());
  if (pauses) LetWork();
  return true;
}

Status Engine::Repair() {
  const std::uint64_t start_ns = NowNs();
  std::vector<NodeId> lost;
  {
    const std::lock_guard lock(lost_mutex_);
    lost.assign(lost_.begin() + repaired_, lost_.begin() + losses_at_stop_);
  }
  Status repaired = replication_->Repair(lost);
  repair_s_ += SecondsSince(start_ns);
  if (repaired) {
    repaired_ = losses_at_stop_.load();
  } else if (!AnotherHasDied()) {
    return repaired;
  }
  return {};
}

// Whether that is why those that live could not do something together; there is word of it then.
// All of them, also those that have not noticed, come together again after the next round, in which
// nobody begins anything, and do all of it once more.
bool Engine::AnotherHasDied() {
  const std::vector<NodeId>& members = cluster_.all().members();
  if (std::all_of(members.begin(), members.end(),
                  [&](NodeId node) { return cluster_.job().alive(node); })) {
    return false;
  }
  const std::uint64_t deadline_ns = NowNs() + kWordOfDeathNs;
  while (losses_ == losses_at_stop_ && NowNs() < deadline_ns) {
    std::this_thread::sleep_for(kLookForWord);
  }
  return losses_ != losses_at_stop_;
}

void Engine::RepairBoundary(std::uint32_t step) {
  const DeathInRepair& death = options_.death_in_repair;
  if (death.node == self() && death.step == step) std::raise(SIGKILL);
}

// Companions may have sent what no task waits for.
Status Engine::Quiesce() {
  for (const auto& thread : threads_) {
    if (thread->companion) static_cast<void>(thread->worker.endpoint().Flush());
  }
  SLIM_TRY(cluster_.all().Barrier());
  for (const auto& thread : threads_) {
    if (thread->companion) thread->companion->BeginAnew(round_);
  }
  return {};
}

void Engine::Boundary(Stage stage) {
  const Death& death = options_.death;
  if (death.node != self() || death.stage != stage) return;
  if (++boundaries_ == death.times) std::raise(SIGKILL);
}

}  // namespace slimgraph::txn
