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

namespace {

// Why a pool cannot be used, of whose nodes one cannot be reached for this reason.
tl::unexpected<Error> Unusable(const PoolDescriptor& pool, const Error& reason) {
  if (CountRunning(pool) > 0) return tl::unexpected<Error>(reason);
  return EnvironmentError(
      "the nodes of pool '{}' have ended, and its graphs with them: 'slimgraph pool start {}' "
      "starts it again",
      pool.name, pool.name);
}

// The first node with a copy of the part that can be reached.
Result<Conversation> OpenForPart(const PoolDescriptor& pool, NodeId part) {
  auto first = Conversation::Open(pool, part);
  for (NodeId copy = 1; copy < pool.copies && !first; ++copy) {
    auto other = Conversation::Open(pool, pool.HolderOf(part, copy));
    if (other) return other;
  }
  return first;
}

Result<std::vector<Conversation>> OpenEach(const PoolDescriptor& pool, auto open) {
  std::vector<Conversation> conversations;
  for (NodeId node = 0; node < pool.nodes.size(); ++node) {
    auto conversation = open(pool, node);
    if (!conversation) return Unusable(pool, conversation.error());
    conversations.push_back(*std::move(conversation));
  }
  return conversations;
}

}  // namespace

Result<std::vector<Conversation>> OpenAll(const PoolDescriptor& pool) {
  return OpenEach(
      pool, [](const PoolDescriptor& of, NodeId node) { return Conversation::Open(of, node); });
}

Result<std::vector<Conversation>> OpenForParts(const PoolDescriptor& pool) {
  return OpenEach(pool, OpenForPart);
}

Result<std::vector<Words>> AwaitAll(std::vector<Conversation>& nodes) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  std::vector<Words> answers;
  for (Conversation& node : nodes) {
    while (!node.AwaitSomething(kRenewal)) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        // Others are still at work, and take a word for the end of this client.
        const bool has_answered =
            i < answers.size() || nodes[i].AwaitSomething(std::chrono::nanoseconds(0));
        if (has_answered) static_cast<void>(nodes[i].Send({std::string(kHere)}));
      }
    }
    SLIM_ASSIGN(answers.emplace_back(), node.AwaitAnswer(kNoLimit));
  }
  return answers;
}

Status MakeView(std::vector<Conversation>& nodes, const std::string& graph,
                const std::string& view) {
  if (view.empty()) return {};
  for (Conversation& node : nodes) {
    SLIM_TRY(node.Send({std::string(kView), graph, view}));
  }
  return AwaitAll(nodes).map([](const auto&) {});
}

}  // namespace slimgraph::internal
