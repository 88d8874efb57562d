// One thread of transactions. It polls its endpoint (completions, replies, requests of others) and
// runs the coroutines that are ready. A coroutine never blocks the thread: it posts operations and
// awaits them while others run. When no coroutine can run, the thread sleeps in the fabric.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "slimgraph/base/coroutine.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/fabric/fabric.h"

namespace slimgraph::txn {

class Worker;

// Counts operations and replies that must come in before their memory may be used again.
class Task;
struct Pending {
  std::uint32_t left = 0;  // operations and replies
  Task* waiter = nullptr;
  bool lost = false;  // some went to a node that has died, and were never completed
};

// A request and its reply. The reply has arrived when `pending` has completed.
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

  // Rings the doorbells, and lets others run until `pending` has completed.
  void Await(Pending& pending);
  // Lets the others run for `ns` nanoseconds. Yield() lets them run once.
  void Sleep(std::uint64_t ns);
  // The same, for a wait without anything to do; Worker::WakeIdle() ends it early.
  void Idle(std::uint64_t ns);
  void Yield();
  // Yields until the next Worker::Run().
  void Park();

 private:
  friend class Worker;
  Worker& worker_;
  std::uint32_t index_;
  bool idle_ = false;
  Coroutine coroutine_;
};

// The first bytes of every request and reply.
struct CallHeader {
  static constexpr std::uint32_t kNoReply = ~std::uint32_t{0};
  std::uint32_t call = kNoReply;  // the number that the sender gave to the call
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

  // Runs all tasks and serves other nodes until `stop`, which a handler of this endpoint sets.
  // Calls `all_at_rest` when each task has ended or parked. Fails with the first operation that
  // failed. `rest_awaits` describes, for people, what the worker waits for while all its tasks
  // rest.
  Status Run(const bool& stop, const std::function<void()>& all_at_rest,
             const std::function<std::string()>& rest_awaits = {});

  // The machine has a processor for each thread of the job. So this thread may poll longer before
  // it sleeps.
  void HasProcessor();
  // The death of another node makes operations fail, but not the run.
  void SurviveDeaths() { survives_deaths_ = true; }
  // After a failure: tasks that have not ended are never resumed.
  void AbandonTasks();
  // Run() returns in this turn of its loop, with this error unless there was one before, wherever
  // its tasks are. Called by `background`.
  void EndAtOnce(Error error);
  // Ends all calls to a node that has died, and calls `all_at_rest` again when all tasks rest.
  void Lose(NodeId node);
  // Calls `all_at_rest` again when all tasks rest.
  void ReportRestAgain() { told_ = false; }
  // Wakes all tasks in Task::Idle().
  void WakeIdle();

  // --- for tasks
  // The tag of an operation that counts in `pending`.
  std::uint64_t Tag(Pending& pending) {
    ++pending.left;
    return reinterpret_cast<std::uint64_t>(&pending);
  }
  // The tag of an operation whose success is not reported. The completion of a later operation on
  // the same node implies its success.
  static std::uint64_t UncountedTag(Pending& pending) {
    return reinterpret_cast<std::uint64_t>(&pending) | kUncounted;
  }
  // An operation or reply that `pending` counts has come in.
  void CompleteOne(Pending& pending);
  // Sends a request that begins with a CallHeader; with `pending`, a reply is awaited.
  void Send(Call& call, Pending* pending);

  // --- for the server of requests
  // Called in every turn of the loop. Returns the longest time until it must be called again; 0:
  // call it when something comes in.
  std::function<std::chrono::nanoseconds()> background;
  // Called one turn before the thread sleeps although `background` has asked for a call soon.
  std::function<void()> before_sleep;
  void OnReply(const Message& message);

  // After a failure no operation is carried out any more, and tasks should end soon.
  bool failed() const { return !status_.has_value(); }
  void Fail(Error error);

 private:
  friend class Task;
  static constexpr std::uint64_t kUncounted = 1;
  // The time in which no task can run, for reports of long waits (base/waits.h).
  struct Idling {
    const std::function<std::string()>& rest_awaits;
    std::uint64_t since_ns = 0;  // 0: a task can run
    Waiting waiting = {};
    void End() {
      since_ns = 0;
      waiting.End();
    }
  };
  bool RunReadyTasks();
  void WaitForWork(std::chrono::nanoseconds background_wants, Idling& idling);
  void RegisterWait(Idling& idling) const;
  std::string DescribeWait(const Idling& idling) const;
  void Dispatch(const Completion& completion);
  void WakeSleepers();
  std::chrono::nanoseconds TimeToWait(std::chrono::nanoseconds background_wants) const;

  Fabric& fabric_;
  Endpoint& endpoint_;
  std::uint32_t index_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::size_t ended_ = 0;
  std::vector<Task*> parked_;
  bool told_ = false;  // `all_at_rest` has been called
  bool ends_at_once_ = false;
  bool survives_deaths_ = false;
  std::vector<bool> lost_;  // by node
  std::deque<Task*> ready_;
  std::multimap<std::uint64_t, Task*> sleepers_;  // by wake-up time
  std::vector<Call*> calls_;                      // by number; null: free
  std::vector<std::uint32_t> free_calls_;
  std::vector<Completion> completions_;
  // Since when only `background` has asked for a call; 0: not so.
  std::uint64_t quiet_since_ns_ = 0;
  std::uint64_t spin_ns_;  // how long the thread polls before it sleeps
  std::uint64_t most_spin_ns_;
  bool slept_ = false;       // since quiet_since_ns_
  bool sleep_told_ = false;  // `before_sleep` has been called since then
  Status status_;
};

}  // namespace slimgraph::txn
