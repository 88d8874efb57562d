// The monotonic clock, in nanoseconds; all processes of one machine read the same one.
#pragma once

#include <time.h>

#include <cstdint>

namespace slimgraph {

inline std::uint64_t NowNs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline double SecondsSince(std::uint64_t start_ns) {
  return static_cast<double>(NowNs() - start_ns) * 1e-9;
}

}  // namespace slimgraph
