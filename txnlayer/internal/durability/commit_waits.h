// The coroutines of a thread that wait until their records are durable.
#pragma once

#include <deque>

#include "txnlayer/internal/durability/commit_log.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

class CommitWaits {
 public:
  // Suspends the coroutine until that record is durable.
  void Await(Task& task, const CommitLog& log, std::uint64_t record) {
    if (log.durable() >= record) return;
    Pending pending;
    pending.left = 1;
    waits_.push_back({record, &pending});
    task.Await(pending);
  }

  // Called in every iteration of the thread's loop. The log wakes the thread when more is durable.
  void Release(const CommitLog& log, Worker& worker) {
    const std::uint64_t durable = log.durable();
    while (!waits_.empty() && waits_.front().record <= durable) {
      Pending& pending = *waits_.front().pending;
      waits_.pop_front();
      worker.CompleteOne(pending);
    }
  }

 private:
  struct Wait {
    std::uint64_t record;
    Pending* pending;
  };
  std::deque<Wait> waits_;  // by ascending record: the thread adds them in order
};

}  // namespace slimgraph::txn
