// One thread of transactions: it polls its endpoint (completions, replies, requests of others) and
// runs the coroutines whose turn it is. A coroutine never blocks: it posts, then awaits, while the
// others run; when none can, the thread sleeps in the fabric.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/execution/coroutine.h"

namespace slimgraph::txn {

class Worker;

// What still has to come in before its memory may be used again.
class Task;
struct Pending {
  std::uint32_t left = 0;  // operations and replies
  Task* waiter = nullptr;
  bool lost = false;  // some of them went to a node that has died, and never came to it or back
};

// A request and the reply to it, which is there when `pending` is done.
struct Call {
  EndpointAddress to;
  std::vector<std::byte> request;
  std::vector<std::byte> reply;
  Pending* pending = nullptr;
};

constexpr HandlerId kRequestHandler = 0x7A00;
constexpr HandlerId kReplyHandler = 0x7A01;

// A transaction coroutine. Its functions are called from within it.
class Task {
 public:
  Task(Worker& worker, std::uint32_t index, std::function<void(Task&)> body);

  Worker& worker() { return worker_; }
  std::uint32_t index() const { return index_; }

  // Rings, and lets others run until nothing of `pending` is left.
  void Await(Pending& pending);
  // Lets the others run for a while, or once.
  void Sleep(std::uint64_t ns);
  // A while without anything to do, which Worker::WakeIdle() ends.
  void Idle(std::uint64_t ns);
  void Pause();
  // Lets go of the thread until the next Worker::Run().
  void Park();

 private:
  friend class Worker;
  Worker& worker_;
  std::uint32_t index_;
  bool idle_ = false;
  Coroutine coroutine_;
};

// Begins every request and reply.
struct CallHeader {
  static constexpr std::uint32_t kNoReply = ~std::uint32_t{0};
  std::uint32_t call = kNoReply;  // the asker's number for it
  std::uint16_t what = 0;
  std::uint16_t items = 0;
};

class Worker {
 public:
  Worker(Fabric& fabric, std::uint32_t index);

  Fabric& fabric() { return fabric_; }
  Endpoint& endpoint() { return endpoint_; }
  std::uint32_t index() const { return index_; }

  void AddTask(std::function<void(Task&)> body);

  // Runs all tasks until each has ended or parked, which it tells, and serves others until `stop`,
  // which a handler of this endpoint sets. Fails with the first operation that failed.
  Status Run(const bool& stop, const std::function<void()>& all_at_rest);

  // There is a processor for each thread of the job on this machine: so this one may look a little
  // longer for what is to come, before it sleeps.
  void HasProcessor();
  // Deaths of other nodes fail operations, not the run.
  void SurviveDeaths() { survives_deaths_ = true; }
  // After a failure: tasks that are parked are never taken up again.
  void LeaveParked();
  // Ends all calls to a node that has died, and tells again that all are at rest.
  void Lose(NodeId node);
  // Tells again, when all are at rest.
  void TellAgain() { told_ = false; }
  // All tasks that sleep because they have nothing to do go on now.
  void WakeIdle();

  // --- for tasks
  // The tag under which an operation that counts in `pending` is posted.
  std::uint64_t Tag(Pending& pending) {
    ++pending.left;
    return reinterpret_cast<std::uint64_t>(&pending);
  }
  // For one whose success is not reported, as a later one on its node tells of it.
  static std::uint64_t UncountedTag(Pending& pending) {
    return reinterpret_cast<std::uint64_t>(&pending) | kUncounted;
  }
  // One of those that `pending` counts has come in.
  void Ended(Pending& pending);
  // Sends a request that begins with a CallHeader; with `pending` a reply is awaited.
  void Send(Call& call, Pending* pending);

  // --- for the server of requests
  // Called in every turn; returns how soon it wants the next at the latest, 0: when something
  // comes.
  std::function<std::chrono::nanoseconds()> background;
  // Called one turn before the thread sleeps although the background wants something soon.
  std::function<void()> before_sleep;
  void OnReply(const Message& message);

  // After a failure nothing more is carried out: tasks are to end soon.
  bool failed() const { return !status_.has_value(); }
  void Fail(Error error);

 private:
  friend class Task;
  static constexpr std::uint64_t kUncounted = 1;
  bool RunReadyTasks();
  void WaitForWork(std::chrono::nanoseconds background_wants);
  void Dispatch(const Completion& completion);
  void WakeSleepers();
  std::chrono::nanoseconds TimeToWait(std::chrono::nanoseconds background_wants) const;

  Fabric& fabric_;
  Endpoint& endpoint_;
  std::uint32_t index_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::size_t ended_ = 0;
  std::vector<Task*> parked_;
  bool told_ = false;  // that all are at rest
  bool survives_deaths_ = false;
  std::vector<bool> lost_;  // by node
  std::deque<Task*> ready_;
  std::multimap<std::uint64_t, Task*> sleepers_;  // by when they wake
  std::vector<Call*> calls_;                      // by number; null: free
  std::vector<std::uint32_t> free_calls_;
  std::vector<Completion> completions_;
  std::uint64_t quiet_since_ns_ = 0;  // since when only the background wants something; 0: not so
  std::uint64_t spin_ns_;             // how long the thread then looks before it sleeps
  std::uint64_t most_spin_ns_;
  bool slept_ = false;       // since then
  bool sleep_told_ = false;  // the background has been told of it
  Status status_;
};

}  // namespace slimgraph::txn
