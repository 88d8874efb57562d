#include "slimgraph/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "slimgraph/base/thread_team.h"

namespace slimgraph {
namespace {

// A forked process does not have its parent's OpenMP threads; an OpenMP loop in it would wait for
// them forever.
std::atomic<bool> was_forked = false;
[[maybe_unused]] const int watches_forks =
    ::pthread_atfork(nullptr, nullptr, [] { was_forked = true; });

#if defined(_OPENMP) && !defined(SLIMGRAPH_SIM)
// GCC's OpenMP threads spin for milliseconds when they wait, unless OMP_WAIT_POLICY said otherwise
// when the process began. Nodes are started with OMP_WAIT_POLICY=passive.
const bool openmp_sleeps = [] {
  const char* const policy = std::getenv("OMP_WAIT_POLICY");
  return policy != nullptr && ::strcasecmp(policy, "passive") == 0;
}();

// OpenMP keeps the threads of the calling thread's last loop. This starts the ones that are
// missing, with signals blocked.
void StartMissingThreads(int threads) {
  thread_local int kept = 1;
  if (threads > kept) {
    const SignalBlocker held;
    std::atomic<int> begun = 0;
#pragma omp parallel num_threads(threads)
    ++begun;
  }
  kept = threads;
}
#endif

// Runs `work` once on each of `threads` threads.
void RunOnEach(std::size_t threads, const std::function<void()>& work) {
#if defined(_OPENMP) && !defined(SLIMGRAPH_SIM)
  if (openmp_sleeps && !was_forked) {
    const int team = static_cast<int>(threads);
    StartMissingThreads(team);
#pragma omp parallel num_threads(team)
    work();
    return;
  }
#endif
  ThreadTeam team(static_cast<std::uint32_t>(threads));
  team.Run([&](std::uint32_t /*thread*/) { work(); });
}

}  // namespace

std::size_t UsableThreads() {
#ifdef SLIMGRAPH_SIM
  return 1;
#endif
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

Status RunOnThreads(std::size_t threads, const std::function<Status(std::size_t)>& body) {
  std::vector<Status> results(threads == 0 ? UsableThreads() : threads);
  ThreadTeam team(static_cast<std::uint32_t>(results.size()));
  team.Run([&](std::uint32_t thread) { results[thread] = body(thread); });
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
  Mutex mutex;
  std::size_t failed_piece = count;
  Status failure;
  RunOnEach(std::clamp<std::size_t>(count, 1, threads), [&] {
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
  });
  return failure;
}

Status InOrder::Finish(std::size_t index) {
  std::unique_lock lock(mutex_);
  finished_[index] = true;
  if (stepping_) return {};
  stepping_ = true;
  while (next_ < finished_.size() && finished_[next_]) {
    lock.unlock();
    Status result = step_(next_);
    // After a failure stepping_ stays set, so no later step runs.
    if (!result) return result;
    lock.lock();
    ++next_;
  }
  stepping_ = false;
  return {};
}

}  // namespace slimgraph
