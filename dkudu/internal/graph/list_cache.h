// Lists of other nodes that a compute node keeps while engines run: those of the vertices of
// highest degree, as many as the budget holds. A list enters the cache when it is first fetched.
// There is an edge cache for each home, in which every list is a group of its own. The node's
// threads share the caches. Nothing is evicted, so a list that was found stays where it is.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "dkudu/mining_graph.h"
#include "slimgraph/remote/edge_cache.h"

namespace slimgraph::dkudu {

class ListCache {
 public:
  static Result<std::unique_ptr<ListCache>> Make(const MiningGraph& graph,
                                                 std::uint64_t budget_bytes);

  // The most memory that the cache takes.
  static std::uint64_t Bytes(const MiningGraph& graph, std::uint64_t budget_bytes) {
    if (graph.nodes() == 1) return 0;
    return std::min(budget_bytes, graph.remote_list_bytes()) + graph.vertices();
  }

  std::optional<List> Find(VertexId v) const {
    if (!keeps(v)) return std::nullopt;
    const EdgeCache& cache = caches_[graph_.home(v)];
    if (!cache.HasDecoded(graph_.number(v))) return std::nullopt;
    const CompactOffsets::Arcs arcs = graph_.FindArcs(v);
    return cache.List(arcs.begin, arcs.length).ids;
  }
  bool keeps(VertexId v) const { return v >= first_; }
  // Does nothing if the cache does not keep v's list or another thread has stored it.
  void Keep(VertexId v, List list);

 private:
  ListCache(const MiningGraph& graph, std::uint64_t budget_bytes);

  const MiningGraph& graph_;
  VertexId first_;  // keeps the lists of this vertex and all above, except own ones
  CacheBudget budget_;
  std::vector<EdgeCache> caches_;  // by home
};

}  // namespace slimgraph::dkudu
