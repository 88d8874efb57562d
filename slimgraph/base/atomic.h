// The atomics of the structures that `make relacy` checks under the C++ memory model: those of the
// standard library. Only the checks of tests/relacy define SLIMGRAPH_RELACY. There each operation
// lets other threads run, and a load may return any value that the model allows. They include
// tests/relacy/relacy_atomic.h first, which then defines what is defined here. In some runs of a
// simulation too, each operation lets other threads run (sim/atomic.h).
#pragma once

#ifndef SLIMGRAPH_RELACY

#include <atomic>
#include <cstddef>
#include <cstring>

#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/sim/atomic.h"
#endif

namespace slimgraph {

#ifdef SLIMGRAPH_SIM
using sim::Atomic;
using sim::AtomicRef;
#else
template <typename T>
using Atomic = std::atomic<T>;
template <typename T>
using AtomicRef = std::atomic_ref<T>;
#endif

// Copies between a thread's own memory and shared memory by memcpy. The two are to be used where
// other threads change or read that memory only before or after. A check fails when they may do so
// at the same time.
inline void LoadPlain(void* own, const std::byte* shared, std::size_t bytes) {
  std::memcpy(own, shared, bytes);
}
inline void StorePlain(std::byte* shared, const void* own, std::size_t bytes) {
  std::memcpy(shared, own, bytes);
}

}  // namespace slimgraph

#endif
