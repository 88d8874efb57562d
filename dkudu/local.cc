#include "dkudu/local.h"

#include <algorithm>

#include "dkudu/internal/root_sums.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::size_t kSumsAtOnce = 1 << 16;

std::vector<VertexId> RanksByDenseId(const MiningGraph& graph) {
  std::vector<VertexId> ranks(graph.vertices());
  for (VertexId v = 0; v < graph.vertices(); ++v) ranks[graph.dense(v)] = v;
  return ranks;
}

// Adds what the other compute nodes hold in the same region, by RDMA reads.
Status AddSumsOfOthers(Cluster& cluster, RegionId region, std::span<std::uint64_t> sums) {
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  std::vector<std::uint64_t> theirs(std::min(kSumsAtOnce, sums.size()));
  for (NodeId node = 1; node < cluster.topology().compute(); ++node) {
    for (std::size_t first = 0; first < sums.size(); first += kSumsAtOnce) {
      const std::span some = std::span(theirs).first(std::min(kSumsAtOnce, sums.size() - first));
      endpoint.Read(node, region, first * sizeof(std::uint64_t), std::as_writable_bytes(some));
      const Outcome outcome = endpoint.Flush();
      if (outcome != Outcome::kOk) {
        return EnvironmentError("cannot read the triangles of node {}: {}", node,
                                OutcomeName(outcome));
      }
      for (std::size_t i = 0; i < some.size(); ++i) sums[first + i] += some[i];
    }
  }
  return {};
}

}  // namespace

// Node 0 reads the others' sums and inverts the degree order only after the edge sums are finished,
// so the two phases do not add up.
std::uint64_t LocalBytes(const MiningGraph& graph, const MiningOptions& options) {
  const std::uint64_t vertices = graph.vertices();
  const std::uint64_t at_first = graph.self() == 0 ? vertices * sizeof(VertexId) : 0;
  return vertices * sizeof(std::uint64_t) + std::max(EdgeSumBytes(graph, options), at_first);
}

Status ForEachLocal(MiningJob& job, const OriginalIds& ids, const LocalVisit& visit) {
  const MiningGraph& graph = job.graph;
  SLIM_TRY(RequireCompleteLists(graph, "triangles at vertices"));
  Cluster& cluster = job.cluster;
  SLIM_ASSIGN(const auto region,
              job.regions.Take(cluster, std::uint64_t{graph.vertices()} * sizeof(std::uint64_t)));
  auto* const twice = reinterpret_cast<std::uint64_t*>(region.memory().data());
  SLIM_TRY(SumOverEdges(job, twice));
  // SumOverEdges ends with a collective operation: every compute node's counters are complete.
  if (cluster.self() == 0) {
    SLIM_TRY(AddSumsOfOthers(cluster, region.id(), std::span(twice, graph.vertices())));
    const std::vector<VertexId> ranks = RanksByDenseId(graph);
    for (VertexId i = 0; i < graph.vertices(); ++i) {
      const VertexId dense = ids.InOrder(i);
      SLIM_TRY(visit(ids[dense], {graph.degree(ranks[dense]), twice[dense] / 2}));
    }
  }
  return cluster.all().Barrier();
}

}  // namespace slimgraph::dkudu
