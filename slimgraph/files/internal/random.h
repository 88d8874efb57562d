// Random numbers that are functions of (seed, counter). There is no shared state, so the numbers
// are the same for any number of threads.
#pragma once

#include <cstdint>

#include "slimgraph/base/mix.h"

namespace slimgraph::internal {

// An independent sequence for each (seed, stream).
class CounterRandom {
 public:
  constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream)
      : state_(Mix64(Mix64(seed + kMixStep) + stream * kMixStep)) {}

  constexpr std::uint64_t Next() { return Mix64(state_ += kMixStep); }

  // A number in 0 .. bound - 1. Its bias is below bound / 2^64.
  constexpr std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  constexpr double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// A permutation of 0 .. 2^bits - 1 that is computed, not stored. It consists of rounds of
// invertible steps.
class Shuffle {
 public:
  constexpr Shuffle(std::uint64_t seed, unsigned bits) : mask_((std::uint64_t{1} << bits) - 1) {
    shift_ = bits / 2 + 1;
    CounterRandom random(seed, ~std::uint64_t{0});
    for (std::uint64_t& key : keys_) key = random.Next();
  }

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    for (const std::uint64_t key : keys_) {
      x = (x + key) & mask_;
      x = (x * (key | 1)) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  static constexpr int kRounds = 4;
  std::uint64_t mask_;
  unsigned shift_ = 0;
  std::uint64_t keys_[kRounds] = {};
};

}  // namespace slimgraph::internal
