#include "dkudu/internal/graph/list_cache.h"

namespace slimgraph::dkudu {

ListCache::ListCache(const MiningGraph& graph, std::uint64_t budget_bytes)
    : graph_(graph), first_(graph.vertices()), budget_(budget_bytes) {
  std::uint64_t bytes = 0;
  while (graph.nodes() > 1 && first_ > 0) {
    const VertexId next = first_ - 1;
    if (!graph.is_own(next)) bytes += graph.degree(next) * sizeof(VertexId);
    if (bytes > budget_bytes) break;
    first_ = next;
  }
}

Result<std::unique_ptr<ListCache>> ListCache::Make(const MiningGraph& graph,
                                                   std::uint64_t budget_bytes) {
  std::unique_ptr<ListCache> lists(new ListCache(graph, budget_bytes));
  for (NodeId home = 0; home < graph.nodes(); ++home) {
    const CompactOffsets& index = graph.index(home);
    const bool kept = home != graph.self();
    SLIM_ASSIGN(auto cache, EdgeCache::Make(kept ? index.count() : 0, kept ? index.arcs() : 0,
                                            /*weight_bytes=*/0, lists->budget_, /*whole=*/false));
    lists->caches_.push_back(std::move(cache));
  }
  return lists;
}

void ListCache::Keep(VertexId v, List list) {
  if (!keeps(v) || graph_.is_own(v)) return;
  EdgeCache& cache = caches_[graph_.home(v)];
  const EdgeCache::Form form = cache.Claim(graph_.number(v), list.size(), /*coded_bytes=*/0);
  if (form != EdgeCache::Form::kDecoded) return;
  std::copy(list.begin(), list.end(), cache.ids() + graph_.FindArcs(v).begin);
  cache.Publish(graph_.number(v), form);
}

}  // namespace slimgraph::dkudu
