// The coroutines of a thread that wait for their records to be durable.
#pragma once

#include <deque>

#include "txnlayer/durability/commit_log.h"
#include "txnlayer/execution/worker.h"

namespace slimgraph::txn {

class CommitWaits {
 public:
  // Lets others run until that record is durable.
  void Await(Task& task, const CommitLog& log, std::uint64_t record) {
    if (log.durable() >= record) return;
    Pending pending;
    pending.left = 1;
    waits_.push_back({record, &pending});
    task.Await(pending);
  }

  // Called in every turn of the thread's loop; the log wakes it when there is something to do.
  void Release(const CommitLog& log, Worker& worker) {
    const std::uint64_t durable = log.durable();
    while (!waits_.empty() && waits_.front().record <= durable) {
      Pending& pending = *waits_.front().pending;
      waits_.pop_front();
      worker.Ended(pending);
    }
  }

 private:
  struct Wait {
    std::uint64_t record;
    Pending* pending;
  };
  std::deque<Wait> waits_;  // of ascending records, as the thread has added them
};

}  // namespace slimgraph::txn
