// Counting and visiting the matches of a pattern, on every node of a session: D-Kudu's functions
// are collective over all nodes.
#pragma once

#include "dkudu/local.h"
#include "dkudu/match.h"
#include "slimgraph/session/internal/open_graph.h"

namespace slimgraph::internal {

struct MiningRequest {
  enum What : std::uint32_t { kCount, kVisit, kLocal };

  ClusterRequest cluster;
  What what = kCount;
  dkudu::Induced induced = dkudu::Induced::kEdge;
  dkudu::MiningOptions options;
  // The pattern, unless `what` is kLocal. The row of a vertex has a bit for each neighbour.
  std::uint32_t vertices = 0;
  dkudu::PatternMask rows[dkudu::kMaxPatternVertices] = {};

  void SetPattern(const dkudu::Pattern& pattern);
  Result<dkudu::Pattern> MakePattern() const;
};

// What a node does with matches and figures; memory nodes do nothing. Embeddings arrive by dense
// id, from several threads.
struct MiningSinks {
  std::function<Result<bool>(std::uint32_t thread, std::span<const VertexId> embedding)> embedding;
  dkudu::LocalCounts::Visit local;  // on node 0
};

// Collective over all nodes. Returns the number of matches, on every node; 0 for kLocal. A usage
// error is the same on all nodes, and the session goes on after it.
Result<std::uint64_t> Mine(Job& job, const GraphSource& file, const OriginalIds& ids,
                           const MiningRequest& request, const MiningSinks& sinks);

Status MineOnMemoryNode(Job& job, const GraphSource& file, const Call& call);

}  // namespace slimgraph::internal
