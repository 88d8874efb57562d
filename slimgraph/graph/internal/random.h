// Random numbers that are functions of (seed, counter): no state, hence the same for any number of
// threads. splitmix64, whose finaliser mixes a counter well (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace slimgraph::internal {

constexpr std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// A sequence of its own for each (seed, stream).
class CounterRandom {
 public:
  constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream)
      : state_(Mix(Mix(seed + kStep) + stream * kStep)) {}

  constexpr std::uint64_t Next() { return Mix(state_ += kStep); }

  // 0 .. bound - 1; the bias is below bound / 2^64.
  constexpr std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  constexpr double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
  std::uint64_t state_;
};

// A permutation of 0 .. 2^bits - 1, computed and not stored: rounds of steps that can each be
// undone.
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
