// The random numbers of clients. A transaction draws several for each operation, so the generator
// must be small and fast (xoshiro256**, Blackman and Vigna, ACM TOMS 47(4), 2021).
#pragma once

#include <bit>
#include <cstdint>

#include "slimgraph/base/mix.h"

namespace slimgraph::txn {

class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) {
    // The state comes from a mixing function, as the authors advise, so that neighbouring seeds
    // give unrelated sequences.
    for (std::uint64_t& word : state_) word = Mix64(seed += kMixStep);
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }

  result_type operator()() {
    const std::uint64_t drawn = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return drawn;
  }

 private:
  std::uint64_t state_[4];
};

// Uniform in 0 .. bound-1.
inline std::uint64_t Below(Random& random, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random()) * bound) >> 64);
}
inline bool Chance(Random& random, double probability) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

}  // namespace slimgraph::txn
