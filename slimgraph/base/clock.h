// Clocks, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/scheduler.h"
#endif

namespace slimgraph {

inline std::uint64_t ReadClockNs(clockid_t clock) {
#ifdef SLIMGRAPH_SIM
  // All clocks of a node show the same. Time passes also in a loop that only reads a clock.
  if (auto* const scheduler = sim::Scheduler::Current()) {
    scheduler->Point();
    return scheduler->clock_ns();
  }
#endif
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The monotonic clock. Those of different hosts differ.
inline std::uint64_t NowNs() { return ReadClockNs(CLOCK_MONOTONIC); }

// The same clock, for times that nodes of one machine compare: all processes there share it. (The
// nodes of a simulation may have clocks that differ, but not this one.)
inline std::uint64_t SharedNowNs() {
#ifdef SLIMGRAPH_SIM
  if (auto* const scheduler = sim::Scheduler::Current()) {
    scheduler->Point();
    return scheduler->now_ns();
  }
#endif
  return NowNs();
}

inline double SecondsSince(std::uint64_t start_ns) {
  return static_cast<double>(NowNs() - start_ns) * 1e-9;
}

// Time since 1970; the clock may be set back.
inline std::uint64_t CalendarNs() { return ReadClockNs(CLOCK_REALTIME); }

// The processor time that the calling thread has used.
inline std::uint64_t ThreadCpuNs() { return ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace slimgraph
