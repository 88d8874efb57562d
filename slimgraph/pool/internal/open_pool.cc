#include "slimgraph/pool/internal/open_pool.h"

#include <algorithm>

namespace slimgraph::internal {

Status CheckVersion(const PoolDescriptor& pool) {
  if (pool.version == SLIMGRAPH_VERSION) return {};
  return EnvironmentError(
      "pool '{}' is of slimgraph {}, and this is {}: stop it by 'slimgraph pool stop {}', and "
      "start "
      "it again",
      pool.name, pool.version, SLIMGRAPH_VERSION, pool.name);
}

NodeId CountRunning(const PoolDescriptor& pool) {
  return static_cast<NodeId>(std::count_if(pool.nodes.begin(), pool.nodes.end(), IsRunning));
}

Result<std::vector<Conversation>> OpenAll(const PoolDescriptor& pool) {
  if (CountRunning(pool) == 0) {
    return EnvironmentError(
        "the nodes of pool '{}' have ended, and its graphs with them: 'slimgraph pool start {}' "
        "starts it again",
        pool.name, pool.name);
  }
  std::vector<Conversation> conversations;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    SLIM_ASSIGN(auto conversation, Conversation::Open(pool, node));
    conversations.push_back(std::move(conversation));
  }
  return conversations;
}

Status MakeView(std::vector<Conversation>& nodes, const std::string& graph,
                const std::string& view) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  if (view.empty()) return {};
  for (Conversation& node : nodes) {
    SLIM_TRY(node.Send({std::string(kView), graph, view}));
  }
  for (Conversation& node : nodes) SLIM_TRY(node.AwaitAnswer(kNoLimit));
  return {};
}

}  // namespace slimgraph::internal
