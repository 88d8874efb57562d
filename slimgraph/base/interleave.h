// The places where a simulation lets other threads interfere although nothing waits there: accesses
// to memory that others change, loops that wait without sleeping, and long computations.
#pragma once

#include <cstdint>

#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/scheduler.h"
#endif

namespace slimgraph {

// Before an access to shared memory. Does nothing outside of a simulation.
inline void Interleave() {
#ifdef SLIMGRAPH_SIM
  if (auto* const scheduler = sim::Scheduler::Current()) scheduler->Point();
#endif
}

// While one exists, there is no such place, and no time passes. For what the nodes of a simulation
// share although processes would not, such as variables that are initialised at their first use.
class Uninterrupted {
 public:
#ifdef SLIMGRAPH_SIM
  Uninterrupted() : scheduler_(sim::Scheduler::Current()) { Add(1); }
  ~Uninterrupted() { Add(-1); }

 private:
  void Add(int change) {
    if (scheduler_ != nullptr) scheduler_->ForbidPoints(change);
  }
  sim::Scheduler* const scheduler_;
#else
  Uninterrupted() {}  // not trivial, so that a variable of it is not unused
#endif
};

// Whether to spin before a sleep. In a simulation a sleep costs nothing, and each turn of a loop
// that waits costs more than the rest of the run.
#ifdef SLIMGRAPH_SIM
inline constexpr bool kMaySpin = false;
#else
inline constexpr bool kMaySpin = true;
#endif

// Where a computation takes about so long on a processor. Does nothing outside of a measurement in
// a simulation.
inline void SimulateWork([[maybe_unused]] std::uint64_t ns) {
#ifdef SLIMGRAPH_SIM
  if (auto* const scheduler = sim::Scheduler::Current()) scheduler->Work(ns);
#endif
}

// In each turn of a loop that waits for another thread without sleeping.
inline void SpinPause() {
#ifdef SLIMGRAPH_SIM
  Interleave();
#else
  __builtin_ia32_pause();
#endif
}

}  // namespace slimgraph
