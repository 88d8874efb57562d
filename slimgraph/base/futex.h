// Sleeping until another thread or process changes a word.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace slimgraph {

// Returns when `word` differs from `seen`, when the thread is woken, or after `limit_ns`.
inline void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                      std::uint64_t limit_ns) {
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000),
                       static_cast<long>(limit_ns % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

inline void FutexWakeAll(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace slimgraph
