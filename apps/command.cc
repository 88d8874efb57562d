#include "apps/command.h"

#include <cmath>

namespace slimgraph {

Report::Value ShownValue(ShownAs as, const std::string& text) {
  if (as == ShownAs::kBytes) {
    if (const auto bytes = ParseBytes(text)) return *bytes;
  }
  if (as == ShownAs::kNumber) {
    if (const auto number = ParseNumber<std::uint64_t>(text)) return *number;
    if (const auto number = ParseNumber<std::int64_t>(text)) return *number;
    if (const auto number = ParseNumber<double>(text); number && std::isfinite(*number)) {
      return *number;
    }
  }
  return text;
}

}  // namespace slimgraph
