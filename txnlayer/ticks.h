// The processor's own clock, for what is measured many times in a transaction: a fraction of what
// NowNs() costs. Differences on one thread alone mean something; what a tick is shows in a run that
// both clocks have measured.
#pragma once

#include <x86intrin.h>

#include <cstdint>

namespace slimgraph::txn {

inline std::uint64_t Ticks() { return __rdtsc(); }

}  // namespace slimgraph::txn
