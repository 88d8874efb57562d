// Reading decimal numbers from text that is known to be followed by readable bytes, at the speed of
// memory: the inner loop of every text reader.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <variant>

namespace slimgraph::internal {

// The digits at `p`: their value and how many. More than 19 digits may wrap around. Reads up to 8
// bytes behind the last digit.
struct Digits {
  std::uint64_t value;
  unsigned count;
};

inline Digits ReadDigits(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  // Eight characters at once: those that are no digits have a bit set in `other`.
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  const std::uint64_t digits = word ^ 0x3030303030303030;
  const std::uint64_t other = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const unsigned count = static_cast<unsigned>(std::countr_zero(other)) / 8;  // 8 if there is none
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

// The whole of `text` as an id below 2^64; false if it is none.
bool ParseId(std::string_view text, std::uint64_t& id);

// The whole of `text` as an integer of 64 bits or else as a finite decimal; monostate if it is
// neither. An integer beyond 64 bits is neither: as a decimal it would lose digits.
std::variant<std::monostate, std::int64_t, double> ParseWeight(std::string_view text);

}  // namespace slimgraph::internal
