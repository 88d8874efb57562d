// Reads bits of a byte stream, the highest bit of each byte first, and decodes the integer codes of
// the WebGraph format (Boldi and Vigna, "Codes for the World-Wide Web").
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "slimgraph/files/internal/byte_source.h"

namespace slimgraph::internal {

// After the end of the stream, or when a code is too long for any number, reads return 0 and ok()
// is false.
class BitReader {
 public:
  explicit BitReader(ByteSource& source)
      : source_(source), bytes_(std::min<std::uint64_t>(kBufferBytes - 1, source.left()) + 1) {}

  bool ok() const { return ok_; }
  // An error if ok() is false.
  Status status() const;
  std::uint64_t bit() const { return bit_; }

  // Reads `count` bits, at most 32.
  std::uint64_t Bits(unsigned count) {
    if (count == 0) return 0;
    if (have_ < count && !Refill(count)) return 0;
    const std::uint64_t value = window_ >> (64 - count);
    Consume(count);
    return value;
  }

  // Counts the zero bits before the next 1 bit, and consumes all of them.
  std::uint64_t Unary() {
    std::uint64_t zeros = 0;
    for (;;) {
      if (have_ == 0 && !Refill(1)) return 0;
      const auto run = static_cast<unsigned>(std::countl_zero(window_));
      if (run < have_) {
        Consume(run + 1);
        return zeros + run;
      }
      zeros += have_;
      Consume(have_);
      if (zeros > kLongest) return TooLong();
    }
  }
  std::uint64_t Gamma() {
    const std::uint64_t bits = Unary();
    return bits > kMaxBits ? TooLong() : ((std::uint64_t{1} << bits) | LongBits(bits)) - 1;
  }
  std::uint64_t Delta() {
    const std::uint64_t bits = Gamma();
    return bits > kMaxBits ? TooLong() : ((std::uint64_t{1} << bits) | LongBits(bits)) - 1;
  }
  std::uint64_t Zeta(unsigned k) {
    const std::uint64_t shift = Unary() * k;
    if (shift + k > kMaxBits) return TooLong();
    const std::uint64_t left = std::uint64_t{1} << shift;
    const std::uint64_t value = LongBits(shift + k - 1);
    return value < left ? value + left - 1 : (value << 1 | Bits(1)) - 1;
  }
  std::uint64_t Nibble() {
    std::uint64_t value = 0;
    for (std::uint64_t last = 0; last == 0;) {
      if (value > (std::uint64_t{1} << kMaxBits) || !ok_) return TooLong();
      last = Bits(1);
      value = value << 3 | Bits(3);
    }
    return value;
  }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 20;
  static constexpr unsigned kMaxBits = 56;
  static constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;  // zeros of a unary code

  std::uint64_t LongBits(std::uint64_t count) {
    if (count <= 32) return Bits(static_cast<unsigned>(count));
    const std::uint64_t high = Bits(static_cast<unsigned>(count - 32));
    return high << 32 | Bits(32);
  }
  void Consume(unsigned count) {
    window_ = count == 64 ? 0 : window_ << count;
    have_ -= count;
    bit_ += count;
  }
  std::uint64_t TooLong() {
    ok_ = false;
    return 0;
  }
  // Fills window_ until it holds `count` bits or more. At the end of the stream it returns false,
  // and ok() becomes false.
  bool Refill(unsigned count);
  bool FillBuffer();

  ByteSource& source_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t window_ = 0;  // the next have_ bits, at the high end
  unsigned have_ = 0;
  std::uint64_t bit_ = 0;
  bool ok_ = true;
  bool ended_ = false;
  Status failed_;
};

}  // namespace slimgraph::internal
