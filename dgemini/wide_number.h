// A number that is never negative, as precise as 48 bits allow, between 2^-32768 and 2^32768: as
// many shortest paths as that lead across a large grid, where a double ends at 2^1024.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace slimgraph {

class WideNumber {
 public:
  WideNumber() = default;
  explicit WideNumber(double value) : WideNumber(value, 0) {}

  explicit operator double() const { return std::ldexp(fraction(), exponent()); }
  // Has become too large to be told.
  bool overflown() const { return bits_ >> kFractionBits == kHighest; }

  friend WideNumber operator+(WideNumber a, WideNumber b) {
    if (a.bits_ < b.bits_) std::swap(a, b);  // larger numbers have larger bits
    const int apart = a.exponent() - b.exponent();
    if (b.bits_ == 0 || apart > kFractionBits + 1) return a;
    return {a.fraction() + std::ldexp(b.fraction(), -apart), a.exponent()};
  }
  friend WideNumber operator*(WideNumber a, WideNumber b) {
    return {a.fraction() * b.fraction(), a.exponent() + b.exponent()};
  }
  friend WideNumber operator/(WideNumber a, WideNumber b) {
    return {a.fraction() / b.fraction(), a.exponent() - b.exponent()};
  }
  WideNumber& operator+=(WideNumber other) { return *this = *this + other; }
  friend bool operator==(WideNumber, WideNumber) = default;

 private:
  static constexpr int kFractionBits = 48;
  static constexpr int kBias = 1 << 15;
  static constexpr int kHighest = (1 << 16) - 1;

  // value * 2^exponent
  WideNumber(double value, int exponent) {
    if (!(value > 0)) return;
    int more = 0;
    const double fraction = std::frexp(value, &more);  // in [0.5, 1)
    auto digits =
        static_cast<std::uint64_t>(std::nearbyint(std::ldexp(fraction, kFractionBits + 1)));
    exponent += more + kBias;
    if (digits >> (kFractionBits + 1) != 0) {  // rounded up to 1
      digits >>= 1;
      ++exponent;
    }
    if (exponent <= 0) return;
    const auto high = static_cast<std::uint64_t>(std::min(exponent, kHighest));
    bits_ = high << kFractionBits | (digits & ((std::uint64_t{1} << kFractionBits) - 1));
  }
  // In [0.5, 1); 0 of zero.
  double fraction() const {
    if (bits_ == 0) return 0;
    const std::uint64_t digits = bits_ & ((std::uint64_t{1} << kFractionBits) - 1);
    return std::bit_cast<double>(std::uint64_t{1022} << 52 | digits << (52 - kFractionBits));
  }
  int exponent() const { return static_cast<int>(bits_ >> kFractionBits) - kBias; }

  std::uint64_t bits_ = 0;
};

}  // namespace slimgraph
