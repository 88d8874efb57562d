// Parallel loops over coarse pieces of work, which this process's threads take in ascending order.
// For loops of milliseconds and more. Engines have their own threads.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

// The number of processors that this process may run on.
std::size_t UsableThreads();

// Runs body(0) .. body(threads - 1) on a new ThreadTeam and waits for all. `threads` = 0 means
// UsableThreads(). Returns the error of the lowest index that failed.
Status RunOnThreads(std::size_t threads, const std::function<Status(std::size_t)>& body);

// Runs piece(0) .. piece(count - 1), on OpenMP threads where those sleep while they wait
// (OMP_WAIT_POLICY=passive), otherwise on a ThreadTeam. After a failure no further piece is
// started. Pieces start in ascending order, so the returned error is that of the lowest piece that
// fails.
Status ParallelFor(std::size_t count, std::size_t threads,
                   const std::function<Status(std::size_t)>& piece);

// Runs a last step for pieces that finish in any order: one step at a time, in ascending order. No
// thread ever waits for another: the thread that finishes a piece runs all steps that have become
// due.
class InOrder {
 public:
  InOrder(std::size_t count, std::function<Status(std::size_t)> step)
      : finished_(count), step_(std::move(step)) {}

  Status Finish(std::size_t index);

 private:
  Mutex mutex_;
  std::vector<bool> finished_;
  std::size_t next_ = 0;
  bool stepping_ = false;
  std::function<Status(std::size_t)> step_;
};

}  // namespace slimgraph
