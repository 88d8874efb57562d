// Sleeping until another thread or process changes a word.
#pragma once

#include <cstdint>

#include "slimgraph/base/atomic.h"

#if defined(SLIMGRAPH_SIM)
#include "slimgraph/base/sim/scheduler.h"
#elif !defined(SLIMGRAPH_RELACY)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

namespace slimgraph {

// Returns when `word` differs from `seen`, when the thread is woken, or after `limit_ns`.
inline void FutexWait(const Atomic<std::uint32_t>& word, std::uint32_t seen,
                      [[maybe_unused]] std::uint64_t limit_ns) {
#if defined(SLIMGRAPH_SIM)
  sim::Scheduler& scheduler = *sim::Scheduler::Current();
  scheduler.Point();
  if (word != seen) return;
  scheduler.Sleep(scheduler.QueueOf(&word), scheduler.now_ns() + limit_ns, "a word");
#elif defined(SLIMGRAPH_RELACY)
  word.WaitWhile(seen);  // without a limit, so that a lost wake-up is a deadlock
#else
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000),
                       static_cast<long>(limit_ns % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
#endif
}

inline void FutexWakeAll(const Atomic<std::uint32_t>& word) {
#if defined(SLIMGRAPH_SIM)
  sim::Scheduler& scheduler = *sim::Scheduler::Current();
  scheduler.WakeAll(scheduler.QueueOf(&word));
#elif defined(SLIMGRAPH_RELACY)
  word.WakeAll();
#else
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
#endif
}

}  // namespace slimgraph
