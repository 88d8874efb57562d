// The numbers that clients draw: several for each operation of a transaction, so that a small and
// quick generator counts (xoshiro256**, Blackman and Vigna, ACM TOMS 47(4), 2021).
#pragma once

#include <bit>
#include <cstdint>

namespace slimgraph::txn {

class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) {
    // As its authors advise: neighbouring seeds shall have nothing in common.
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15;
      std::uint64_t mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
      word = mixed ^ (mixed >> 31);
    }
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

// Half open: 0 .. bound-1.
inline std::uint64_t Below(Random& random, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random()) * bound) >> 64);
}
inline bool Chance(Random& random, double probability) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

}  // namespace slimgraph::txn
