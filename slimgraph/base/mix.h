// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): Mix64 of a counter that grows by kMixStep gives
// pseudo-random numbers, the same on all machines.
#pragma once

#include <cstdint>

namespace slimgraph {

inline constexpr std::uint64_t kMixStep = 0x9E3779B97F4A7C15;

// A bijection on 64-bit words: each bit of the result depends on all bits of `x`.
constexpr std::uint64_t Mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace slimgraph
