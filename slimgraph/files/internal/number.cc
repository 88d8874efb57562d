#include "slimgraph/files/internal/number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace slimgraph::internal {

bool ParseId(std::string_view text, std::uint64_t& id) {
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, id);
  return failed == std::errc() && stop == end;
}

std::variant<std::monostate, std::int64_t, double> ParseWeight(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {};
  }
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  const auto [stop, failed] = std::from_chars(text.data(), end, integer);
  if (stop == end) {
    if (failed == std::errc()) return integer;
    return {};
  }
  double decimal = 0;
  const auto [decimal_stop, decimal_failed] = std::from_chars(text.data(), end, decimal);
  if (decimal_failed != std::errc() || decimal_stop != end || !std::isfinite(decimal)) return {};
  return decimal;
}

}  // namespace slimgraph::internal
