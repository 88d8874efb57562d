// Runs the threads of all nodes of a simulated cluster on one thread of the system, each as a
// coroutine. One seed determines the whole run: two runs with the same seed are the same.
//
// Time is simulated, and each thread has its own. Whenever a thread reaches a point where another
// could interfere, its time passes by a small random cost, now and then by a long one; then the
// thread that is furthest behind runs. So threads run in parallel in simulated time, in every
// order, and a sleep costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "slimgraph/base/sim/ready_queue.h"
#include "slimgraph/base/types.h"

namespace slimgraph::sim {

class SimThread;
class Network;
class Disks;
constexpr std::uint64_t kForever = ~std::uint64_t{0};

// Whether operations on the atomics of atomic.h are points in the run that is under way.
inline bool atomics_are_points = false;

// The threads that wait for one thing.
class WaitQueue {
 public:
  WaitQueue() = default;
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  bool empty() const { return sleepers_.empty(); }

 private:
  friend class Scheduler;
  std::vector<SimThread*> sleepers_;
};

struct SchedulerOptions {
  std::uint64_t seed = 1;
  std::uint64_t point_ns = 50;          // the mean cost of a point without a pause
  std::uint32_t points_per_pause = 64;  // one of so many points costs up to longest_pause_ns
  std::uint64_t longest_pause_ns = 1'000'000;
  // Other threads may interfere at each operation on an atomic of atomic.h too.
  bool points_at_atomics = false;
  // For measurements: computations take time, and nothing takes longer than usual by chance.
  bool calibrated = false;
  std::uint64_t limit_ns = 3'600'000'000'000;  // simulated time after which a run has failed
};

struct RunOutcome {
  std::string failure;     // empty if every thread has ended
  std::uint64_t end_ns;    // the simulated time at the end
  std::uint64_t switches;  // from one thread to another
  std::uint64_t trace;     // a hash of who ran when
};

// How a node's clock differs from the time of the simulation.
struct NodeClock {
  std::uint64_t ahead_ns = 0;
  std::int64_t drift_ppm = 0;  // how much faster it is
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The scheduler whose thread is running; null outside of a simulation.
  static Scheduler* Current();

  // Starts a thread of `node`. May be called by threads and before Run(). The thread exists at
  // least until it has ended.
  std::shared_ptr<SimThread> Start(NodeId node, std::string name, std::function<void()> body);

  // Calls `event` at that time, on no thread: it must not sleep. Unlike threads, events belong to
  // no node, and happen whoever has died. What has not happened when all threads have ended is
  // dropped.
  void At(std::uint64_t time_ns, std::function<void()> event);

  // Runs until all threads have ended, all sleep forever, or a thread calls Fail().
  RunOutcome Run();

  // The rest is called by threads. Events may call what neither sleeps nor refers to the thread.

  // A point where other threads may interfere. Does nothing in an event, and while they are
  // forbidden: by more calls with 1 than with -1. A thread must not sleep meanwhile.
  void Point();
  void ForbidPoints(int change) { forbidden_ += change; }
  // The time of this thread passes.
  void Spend(std::uint64_t ns);
  // In a measurement, the same for a computation. Others run only at the next point.
  void Work(std::uint64_t ns) {
    if (options_.calibrated && running_ != nullptr) running_ns() += ns;
  }
  bool calibrated() const { return options_.calibrated; }
  bool points_at_atomics() const { return options_.points_at_atomics; }
  // Sleeps until woken or until `deadline_ns`. Returns false if nobody has woken it. `what` is what
  // it waits for, in words.
  bool Sleep(WaitQueue& queue, std::uint64_t deadline_ns, const char* what);
  void SleepUntil(std::uint64_t ns);
  void WakeOne(WaitQueue& queue);  // one of them at random
  void WakeAll(WaitQueue& queue);
  void Join(SimThread& thread);

  // The queue of those who wait for a word in memory.
  WaitQueue& QueueOf(const void* word) { return queues_of_words_[word]; }

  // Ends all threads of a node between two of their steps, as a crash or the end of a process does:
  // nothing of theirs is run or destroyed any more, and its connections and files are closed. Does
  // not return if it ends the calling thread.
  void EndNode(NodeId node, int exit_code);
  bool ended(NodeId node) const { return exit_codes_.contains(node); }
  // Threads of the node may be started again, as those of a new process.
  void ReviveNode(NodeId node);
  // Of nodes that have ended.
  const std::map<NodeId, int>& exit_codes() const { return exit_codes_; }

  // No thread of the node runs before it has stood still for so long, as after SIGSTOP and SIGCONT.
  void PauseNode(NodeId node, std::uint64_t ns);

  // Ends the run.
  [[noreturn]] void Fail(std::string why);

  const SimThread* running() const { return running_; }
  NodeId node() const;
  Network& network() { return *network_; }
  Disks& disks() { return *disks_; }
  std::uint64_t now_ns() const;
  // What the clock of the running thread's node shows.
  std::uint64_t clock_ns() const;
  void SetClock(NodeId node, const NodeClock& clock) { clocks_[node] = clock; }
  std::uint64_t Random(std::uint64_t below);

  // A place for a value of the running thread; null at first. `key` tells such values apart.
  void*& OwnValue(const void* key);

 private:
  struct Event {
    std::uint64_t time_ns;
    std::uint64_t number;  // in the order in which they were made
    std::function<void()> call;
  };
  static bool IsLater(const Event& a, const Event& b) {
    return std::tie(a.time_ns, a.number) > std::tie(b.time_ns, b.number);
  }
  std::uint64_t& running_ns();  // the time of the running thread
  bool RunEvent();
  std::uint64_t next_ns() const;  // when the next thread or event is due
  void MakeReady(SimThread& thread, std::uint64_t time_ns);
  void Leave(SimThread& thread);  // takes it out of whatever it waits in
  void SwitchAway();
  std::string ThreadsInWords() const;  // of those that have not ended

  SchedulerOptions options_;
  std::mt19937_64 random_;
  std::vector<std::shared_ptr<SimThread>> threads_;  // by number
  std::size_t living_ = 0;
  ReadyQueue<SimThread> ready_;
  std::vector<Event> events_;  // a heap; the earliest is first
  std::uint64_t num_events_ = 0;
  std::uint64_t event_ns_ = 0;  // the time of the current or last event
  std::map<NodeId, int> exit_codes_;
  std::map<const void*, WaitQueue> queues_of_words_;
  std::map<NodeId, std::uint64_t> paused_until_ns_;
  std::map<NodeId, NodeClock> clocks_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Disks> disks_;
  SimThread* running_ = nullptr;
  int forbidden_ = 0;
  RunOutcome outcome_{};
  bool failed_ = false;
};

}  // namespace slimgraph::sim
