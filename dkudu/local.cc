#include "dkudu/local.h"

#include <algorithm>

#include "dkudu/sum_edges.h"
#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

constexpr VertexId kSumsAtOnce = 1 << 16;

std::vector<VertexId> PlacesByDenseId(const MiningGraph& graph) {
  std::vector<VertexId> places(graph.vertices());
  for (VertexId v = 0; v < graph.vertices(); ++v) places[graph.dense(v)] = v;
  return places;
}

}  // namespace

Status ForEachLocal(MiningJob& job, const LocalVisit& visit) {
  const MiningGraph& graph = job.graph;
  SLIM_CHECK(graph.part() == ListPart::kAll);
  Cluster& cluster = job.cluster;
  const std::uint64_t bytes =
      cluster.computes() ? std::uint64_t{graph.vertices()} * sizeof(std::uint64_t) : 0;
  SLIM_ASSIGN(const SharedRegion region, cluster.fabric().Share(bytes));
  auto* const twice = reinterpret_cast<std::uint64_t*>(region.memory.data());
  SLIM_TRY(SumOverEdges(job, twice));
  // The sums have met all nodes: every compute node's share is there to be read.
  if (cluster.self() == 0) {
    const std::vector<VertexId> places = PlacesByDenseId(graph);
    Endpoint& endpoint = cluster.fabric().endpoint(0);
    std::vector<std::uint64_t> sums(kSumsAtOnce);
    std::vector<std::uint64_t> theirs(kSumsAtOnce);
    for (VertexId first = 0; first < graph.vertices();) {
      const VertexId count = std::min(kSumsAtOnce, graph.vertices() - first);
      std::copy_n(twice + first, count, sums.begin());
      for (NodeId node = 1; node < cluster.topology().compute(); ++node) {
        endpoint.Read(node, region.id, first * sizeof(std::uint64_t),
                      std::as_writable_bytes(std::span(theirs).first(count)));
        const Outcome outcome = endpoint.Flush();
        if (outcome != Outcome::kOk) {
          return EnvironmentError("cannot read the triangles of node {}: {}", node,
                                  OutcomeName(outcome));
        }
        for (VertexId i = 0; i < count; ++i) sums[i] += theirs[i];
      }
      for (VertexId i = 0; i < count; ++i) {
        const VertexId dense = first + i;
        SLIM_TRY(visit(dense, {graph.degree(places[dense]), sums[i] / 2}));
      }
      first += count;
    }
  }
  return cluster.all().Barrier();
}

}  // namespace slimgraph
