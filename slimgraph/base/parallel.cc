#include "slimgraph/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace slimgraph {

std::size_t UsableThreads() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

Status RunOnThreads(std::size_t threads, const std::function<Status(std::size_t)>& body) {
  if (threads == 0) threads = UsableThreads();
  if (threads == 1) return body(0);
  std::vector<Status> results(threads);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back([&, i] { results[i] = body(i); });
    }
    results[0] = body(0);
  }
  for (Status& result : results) {
    if (!result) return std::move(result);
  }
  return {};
}

Status ParallelFor(std::size_t count, std::size_t threads,
                   const std::function<Status(std::size_t)>& piece) {
  if (threads == 0) threads = UsableThreads();
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::size_t failed_piece = count;
  Status failure;
  const Status ran = RunOnThreads(std::clamp<std::size_t>(count, 1, threads), [&](std::size_t) {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) break;
      Status result = piece(i);
      if (result) continue;
      failed.store(true, std::memory_order_relaxed);
      const std::lock_guard lock(mutex);
      if (i < failed_piece) {
        failed_piece = i;
        failure = std::move(result);
      }
    }
    return Status{};
  });
  return ran ? failure : ran;
}

Status InOrder::Finish(std::size_t index) {
  std::unique_lock lock(mutex_);
  finished_[index] = true;
  if (stepping_) return {};
  stepping_ = true;
  while (next_ < finished_.size() && finished_[next_]) {
    lock.unlock();
    Status result = step_(next_);
    if (!result) return result;  // stepping_ stays set: no later step runs
    lock.lock();
    ++next_;
  }
  stepping_ = false;
  return {};
}

}  // namespace slimgraph
