// Bits of a byte stream, the highest of each byte first, and the codes of positive numbers that the
// WebGraph format is made of (Boldi and Vigna, "Codes for the World-Wide Web").
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "slimgraph/graph/internal/byte_source.h"

namespace slimgraph::internal {

// Behind the end, and where a code is longer than any number, it reads zeros, and is not well.
class BitReader {
 public:
  explicit BitReader(ByteSource& source)
      : source_(source), bytes_(std::min<std::uint64_t>(kBufferBytes - 1, source.left()) + 1) {}

  bool well() const { return well_; }
  // Why not.
  Status status() const;
  std::uint64_t bit() const { return bit_; }

  // Up to 32 bits.
  std::uint64_t Bits(unsigned count) {
    if (count == 0) return 0;
    if (have_ < count && !Refill(count)) return 0;
    const std::uint64_t value = window_ >> (64 - count);
    Drop(count);
    return value;
  }

  // Zeros up to the next one.
  std::uint64_t Unary() {
    std::uint64_t zeros = 0;
    for (;;) {
      if (have_ == 0 && !Refill(1)) return 0;
      const auto run = static_cast<unsigned>(std::countl_zero(window_));
      if (run < have_) {
        Drop(run + 1);
        return zeros + run;
      }
      zeros += have_;
      Drop(have_);
      if (zeros > kLongest) return TooLong();
    }
  }
  std::uint64_t Gamma() {
    const std::uint64_t bits = Unary();
    return bits > kMostBits ? TooLong() : ((std::uint64_t{1} << bits) | Long(bits)) - 1;
  }
  std::uint64_t Delta() {
    const std::uint64_t bits = Gamma();
    return bits > kMostBits ? TooLong() : ((std::uint64_t{1} << bits) | Long(bits)) - 1;
  }
  std::uint64_t Zeta(unsigned k) {
    const std::uint64_t shift = Unary() * k;
    if (shift + k > kMostBits) return TooLong();
    const std::uint64_t left = std::uint64_t{1} << shift;
    const std::uint64_t value = Long(shift + k - 1);
    return value < left ? value + left - 1 : (value << 1 | Bits(1)) - 1;
  }
  std::uint64_t Nibble() {
    std::uint64_t value = 0;
    for (std::uint64_t last = 0; last == 0;) {
      if (value > (std::uint64_t{1} << kMostBits) || !well_) return TooLong();
      last = Bits(1);
      value = value << 3 | Bits(3);
    }
    return value;
  }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 20;
  static constexpr unsigned kMostBits = 56;
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;  // of zeros, in unary

  std::uint64_t Long(std::uint64_t count) {
    if (count <= 32) return Bits(static_cast<unsigned>(count));
    const std::uint64_t high = Bits(static_cast<unsigned>(count - 32));
    return high << 32 | Bits(32);
  }
  void Drop(unsigned count) {
    window_ = count == 64 ? 0 : window_ << count;
    have_ -= count;
    bit_ += count;
  }
  std::uint64_t TooLong() {
    well_ = false;
    return 0;
  }
  // Until there are `count` bits or more; false, and not well, when there are not.
  bool Refill(unsigned count);
  bool Fetch();

  ByteSource& source_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t window_ = 0;  // the next bits, at its high end
  unsigned have_ = 0;
  std::uint64_t bit_ = 0;
  bool well_ = true;
  bool ended_ = false;
  Status failed_;
};

}  // namespace slimgraph::internal
