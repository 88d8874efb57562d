// How long the kernel lets a thread run before others that wait for its processor have their turn.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace slimgraph {

// The calling thread, and those that it begins from here on, take turns of about that length, and
// get them as soon as they wake up, however long others' are; the share of the processor that
// comes to them is the same as before. Kernels before 6.12 know nothing of it, and leave all as it
// is.
inline void TakeShortTurns(std::uint64_t slice_ns) {
  // struct sched_attr, whose header cannot be included beside <sched.h>.
  struct {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime;
    std::uint64_t deadline;
    std::uint64_t period;
  } attributes{};
  // Of everything else, as it is.
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.runtime = slice_ns;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

}  // namespace slimgraph
