#include "slimgraph/remote/cache_options.h"

#include <charconv>

#include "slimgraph/base/units.h"

namespace slimgraph {

Result<EdgeBudget> ParseEdgeBudget(std::string_view text) {
  EdgeBudget budget;
  if (text.ends_with('%')) {
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, failed] = std::from_chars(text.data(), end, budget.percent);
    if (failed != std::errc() || stop != end || !(budget.percent >= 0 && budget.percent <= 100)) {
      return UsageError("expected a size or 0% to 100%, found '{}'", text);
    }
    return budget;
  }
  budget.in_percent = false;
  SLIM_ASSIGN(budget.bytes, ParseBytes(text));
  return budget;
}

}  // namespace slimgraph
