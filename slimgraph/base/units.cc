#include "slimgraph/base/units.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace slimgraph {

Result<std::uint64_t> ParseBytes(std::string_view text) {
  const auto wrong = [&] {
    return UsageError("'{}' is not a size: expected a number with K, M, G or T, as in 64M", text);
  };
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || !(value >= 0)) return wrong();
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = 1;
  if (!unit.empty()) {
    constexpr std::string_view kPrefixes = "KMGT";
    const char prefix = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
    const std::size_t power = kPrefixes.find(prefix);
    if (power != std::string_view::npos) {
      for (std::size_t i = 0; i <= power; ++i) factor *= 1024;
      unit.remove_prefix(1);
      if (unit == "iB") unit = "B";
    }
    if (!unit.empty() && unit != "B") return wrong();
  }
  const double bytes = value * factor;
  if (bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return wrong();
  return static_cast<std::uint64_t>(bytes);
}

Result<double> ParseSeconds(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit.empty() || unit == "s" ? 1
                        : unit == "m"               ? 60
                        : unit == "h"               ? 3600
                        : unit == "ms"              ? 1e-3
                        : unit == "us"              ? 1e-6
                                                    : 0;
  if (failed != std::errc() || !(value >= 0 && value <= 1e9) || factor == 0) {
    return UsageError("'{}' is not a time: expected a number with us, ms, s, m or h, as in 10m",
                      text);
  }
  return value * factor;
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string FormatCount(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string FormatCounted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", FormatCount(count), what, count == 1 ? "" : "s");
}

std::string FormatSeconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 300) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} min", seconds / 60);
}

}  // namespace slimgraph
