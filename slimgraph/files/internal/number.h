// Parses decimal numbers: the inner loop of every text reader. To be fast, it reads beyond the end
// of the text, so readable bytes must follow there.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <variant>

namespace slimgraph::internal {

// The value and the number of the digits at a position in a text. The value of more than 19 digits
// may wrap around. ReadDigits reads up to 8 bytes after the last digit.
struct Digits {
  std::uint64_t value;
  unsigned count;
};

inline Digits ReadDigits(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  // Takes eight characters at once. A character that is not a digit has a bit set in `other`.
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  const std::uint64_t digits = word ^ 0x3030303030303030;
  const std::uint64_t other = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const unsigned count = static_cast<unsigned>(std::countr_zero(other)) / 8;  // 8: all are digits
  if (count == 0) return {0, 0};
  std::uint64_t value = digits << (8 * (8 - count));  // leading zeros in front
  value = value * 10 + (value >> 8);
  value = (((value & 0x000000FF000000FF) * 0x000F424000000064) +
           (((value >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
          32;
  Digits result{value, count};
  if (count < 8) return result;
  for (unsigned digit; (digit = static_cast<unsigned>(p[result.count]) - '0') <= 9;) {
    result.value = result.value * 10 + digit;
    ++result.count;
  }
  return result;
}

// Parses the whole of `text` as an id below 2^64; false if it is not one.
bool ParseId(std::string_view text, std::uint64_t& id);

// Parses the whole of `text` as a 64-bit integer, or else as a finite decimal; monostate if it is
// neither. An integer beyond 64 bits is rejected, because a double would lose digits of it.
std::variant<std::monostate, std::int64_t, double> ParseWeight(std::string_view text);

}  // namespace slimgraph::internal
