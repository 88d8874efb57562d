// The threads on which the bodies of a store's transactions run, on one compute node. Each has a
// lane of the engine.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/graph_store.h"
#include "txnlayer/graph/lane.h"

namespace slimgraph::internal {

using Body = std::function<Status(WriteTransaction&)>;

class BodyPool {
 public:
  // The lanes must live until Drain() has returned.
  BodyPool(const std::vector<std::unique_ptr<txn::Lane>>& lanes, std::uint32_t threads,
           const txn::GraphShape& shape, const RetryOptions& retry);
  ~BodyPool() { Drain(); }

  // From any thread. After Drain(), the outcome is an error.
  std::future<TransactionOutcome> Submit(Body body, bool only_reads);
  // Waits until all bodies have ended, and ends the threads.
  void Drain();

 private:
  struct Submitted {
    Body body;
    bool only_reads;
    std::promise<TransactionOutcome> promise;
  };
  // What comes after an attempt.
  enum class Next { kEnd, kAgain, kAgainAfterConflict };

  void Work(txn::Lane& lane);
  void Run(txn::Lane& lane, Submitted& submitted);
  Next Try(txn::Lane& lane, const Submitted& submitted, bool again,
           TransactionOutcome& outcome) const;
  void Wait(std::uint32_t conflicts, std::minstd_rand& random) const;

  const txn::GraphShape shape_;
  const RetryOptions retry_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Submitted> queue_;
  bool over_ = false;
  Mutex draining_;
  std::vector<Thread> threads_;
};

}  // namespace slimgraph::internal
