// The places where a simulation lets other threads interfere although nothing waits there: accesses
// to memory that others change, and loops that wait without sleeping.
#pragma once

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

// In each turn of a loop that waits for another thread without sleeping.
inline void SpinPause() {
#ifdef SLIMGRAPH_SIM
  Interleave();
#else
  __builtin_ia32_pause();
#endif
}

}  // namespace slimgraph
