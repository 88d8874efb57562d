// The processor's time stamp counter, for events measured many times in a transaction: a read costs
// a fraction of NowNs(). Only differences on one thread are meaningful. The length of a tick is
// found by measuring a run with both clocks.
#pragma once

#include <x86intrin.h>

#include <cstdint>

#include "slimgraph/base/clock.h"

namespace slimgraph {

#ifdef SLIMGRAPH_SIM
inline std::uint64_t Ticks() { return NowNs(); }
#else
inline std::uint64_t Ticks() { return __rdtsc(); }
#endif

}  // namespace slimgraph
