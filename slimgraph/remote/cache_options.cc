#include "slimgraph/remote/cache_options.h"

#include <charconv>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/nodes_on_this_host.h"

namespace slimgraph {

Result<EdgeBudget> ParseEdgeBudget(std::string_view text) {
  EdgeBudget budget;
  if (text == "auto") {
    budget.automatic = true;
    return budget;
  }
  if (text.ends_with('%')) {
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, failed] = std::from_chars(text.data(), end, budget.percent);
    if (failed != std::errc() || stop != end || !(budget.percent >= 0 && budget.percent <= 100)) {
      return UsageError("expected a size, 0% to 100% or auto, found '{}'", text);
    }
    return budget;
  }
  budget.in_percent = false;
  SLIM_ASSIGN(budget.bytes, ParseBytes(text));
  return budget;
}

Status DecideEdgeBudget(Cluster& cluster, EdgeBudget& budget) {
  if (!budget.automatic) return {};
  std::uint64_t mine = MemoryLeftForNode(NodesOnThisHost(cluster.job()).size());
  SLIM_TRY(
      cluster.all().AllReduce(std::span(&mine, 1), [](auto a, auto b) { return std::min(a, b); }));
  budget.most_bytes = mine / 2;
  return {};
}

}  // namespace slimgraph
