// Coarse pieces of work, shared among threads of this process and taken in ascending order.
// Threads live as long as the call: for loops of milliseconds and more.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph {

// The processors that this process may run on.
std::size_t UsableThreads();

// Runs body(0) .. body(threads - 1), each on a thread of its own, and waits for all.
// 0 threads stands for UsableThreads(). The error of the lowest index is returned.
Status RunOnThreads(std::size_t threads, const std::function<Status(std::size_t)>& body);

// Runs piece(0) .. piece(count - 1). After a failure no further piece is started; as pieces start
// in ascending order, the error returned is that of the first piece that fails.
Status ParallelFor(std::size_t count, std::size_t threads,
                   const std::function<Status(std::size_t)>& piece);

// Lets pieces that finish in any order go through a last step one at a time, in ascending order.
// No thread ever waits for another: whoever finishes runs the steps that have become due.
class InOrder {
 public:
  InOrder(std::size_t count, std::function<Status(std::size_t)> step)
      : finished_(count), step_(std::move(step)) {}

  Status Finish(std::size_t index);

 private:
  std::mutex mutex_;
  std::vector<bool> finished_;
  std::size_t next_ = 0;
  bool stepping_ = false;
  std::function<Status(std::size_t)> step_;
};

}  // namespace slimgraph
