// A non-negative floating-point number with 48 fraction bits and exponents from -2^15 to 2^15. The
// number of shortest paths across a large grid needs this range; a double ends at 2^1024.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace slimgraph::dgemini {

class WideNumber {
 public:
  WideNumber() = default;
  explicit WideNumber(double value) {
    if (value > 0) *this = Of(value, 0);
  }

  explicit operator double() const {
    const int raised = exponent() + kDoubleBias;
    if (raised > 0 && raised < 2 * kDoubleBias) return Fraction(raised);
    return std::ldexp(fraction(), exponent());
  }
  // Whether the number has become too large to represent.
  bool overflown() const { return high() == kHighest; }

  friend WideNumber operator+(WideNumber a, WideNumber b) {
    if (a.bits_ < b.bits_) std::swap(a, b);  // larger numbers have larger bits
    const std::uint64_t apart = a.high() - b.high();
    if (b.bits_ == 0 || apart > kFractionBits + 1 || a.overflown()) return a;
    // The digits with eight guard bits, for rounding.
    const std::uint64_t sum = (a.digits() << 8) + (b.digits() << 8 >> apart);
    const std::uint64_t carry = sum >> (kFractionBits + 9);
    return FromBits(((a.high() + carry) << kFractionBits) + (((sum >> carry) + 0x80) >> 8) -
                    kLeading);
  }
  friend WideNumber operator*(WideNumber a, WideNumber b) {
    if (a.bits_ == 0 || b.bits_ == 0) return {};
    return Of(a.fraction() * b.fraction(), a.exponent() + b.exponent());
  }
  friend WideNumber operator/(WideNumber a, WideNumber b) {
    if (a.bits_ == 0) return {};
    return Of(a.fraction() / b.fraction(), a.exponent() - b.exponent());
  }
  WideNumber& operator+=(WideNumber other) { return *this = *this + other; }
  friend bool operator==(WideNumber, WideNumber) = default;

 private:
  // The biased exponent, then the digits of a number in [0.5, 1) without its leading 1 bit.
  static constexpr int kFractionBits = 48;
  static constexpr std::uint64_t kLeading = std::uint64_t{1} << kFractionBits;
  static constexpr int kBias = 1 << 15;
  static constexpr std::uint64_t kHighest = (1 << 16) - 1;
  static constexpr int kDoubleBits = 52;
  static constexpr int kDoubleBias = 1022;  // a double's biased exponent of numbers in [0.5, 1)

  static WideNumber FromBits(std::uint64_t bits) {
    WideNumber number;
    number.bits_ = bits;
    return number;
  }
  // value * 2^exponent, for value > 0.
  static WideNumber Of(double value, int exponent) {
    constexpr int kDropped = kDoubleBits - kFractionBits;
    if (value < 0x1p-1022) return Of(value * 0x1p64, exponent - 64);
    // Rounds to kFractionBits. A carry into the exponent is correct.
    const std::uint64_t bits =
        (std::bit_cast<std::uint64_t>(value) + (1 << (kDropped - 1))) >> kDropped;
    const int high = static_cast<int>(bits >> kFractionBits) - kDoubleBias + exponent + kBias;
    if (high <= 0) return {};
    return FromBits(std::min(static_cast<std::uint64_t>(high), kHighest) << kFractionBits |
                    (bits & (kLeading - 1)));
  }
  double Fraction(int double_exponent) const {
    return std::bit_cast<double>(static_cast<std::uint64_t>(double_exponent) << kDoubleBits |
                                 (bits_ & (kLeading - 1)) << (kDoubleBits - kFractionBits));
  }
  // The fraction in [0.5, 1); 0 for the number zero.
  double fraction() const { return bits_ == 0 ? 0 : Fraction(kDoubleBias); }
  std::uint64_t high() const { return bits_ >> kFractionBits; }
  std::uint64_t digits() const { return (bits_ & (kLeading - 1)) | kLeading; }
  int exponent() const { return static_cast<int>(high()) - kBias; }

  std::uint64_t bits_ = 0;
};

}  // namespace slimgraph::dgemini
