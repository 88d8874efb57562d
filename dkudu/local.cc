#include "dkudu/local.h"

#include <algorithm>

#include "dkudu/internal/kernel/corner_kernel.h"
#include "dkudu/internal/over_roots.h"

namespace slimgraph::dkudu {
namespace {

const Stage kCorners("corners");

constexpr std::size_t kSumsAtOnce = 1 << 16;

template <ListPart kPart>
Status CountCorners(MiningJob& job, std::uint64_t* arcs_at) {
  const auto done = [](std::uint32_t, const CornerKernel<kPart>&) {};
  return RunOverRoots<CornerKernel<kPart>>(job, kCorners, done, arcs_at);
}

std::vector<VertexId> RanksByDenseId(const MiningGraph& graph) {
  std::vector<VertexId> ranks(graph.vertices());
  for (VertexId v = 0; v < graph.vertices(); ++v) ranks[graph.dense(v)] = v;
  return ranks;
}

std::span<std::uint64_t> Counters(const JobRegions::Lease& region) {
  return {reinterpret_cast<std::uint64_t*>(region.memory().data()),
          region.memory().size() / sizeof(std::uint64_t)};
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

// Node 0 reads the others' sums and inverts the degree order only after the corners are counted, so
// the two phases do not add up.
std::uint64_t LocalBytes(const MiningGraph& graph, const MiningOptions& options) {
  const std::uint64_t vertices = graph.vertices();
  const std::uint64_t at_first = graph.self() == 0 ? vertices * sizeof(VertexId) : 0;
  return vertices * sizeof(std::uint64_t) +
         std::max(OverRootsBytes<CornerKernel<ListPart::kAll>>(graph, options), at_first);
}

Result<LocalCounts> CountLocal(MiningJob& job) {
  const MiningGraph& graph = job.graph;
  const bool arcs = graph.part() == ListPart::kArcs;
  if (!arcs) SLIM_TRY(RequireCompleteLists(graph, "triangles at vertices"));
  Cluster& cluster = job.cluster;
  SLIM_ASSIGN(auto region,
              job.regions.Take(cluster, std::uint64_t{graph.vertices()} * sizeof(std::uint64_t)));
  const std::span<std::uint64_t> counts = Counters(region);
  SLIM_TRY(arcs ? CountCorners<ListPart::kArcs>(job, counts.data())
                : CountCorners<ListPart::kAll>(job, counts.data()));
  SLIM_TRY(cluster.all().Barrier());  // every compute node's counters are complete
  if (cluster.self() == 0) SLIM_TRY(AddSumsOfOthers(cluster, region.id(), counts));
  SLIM_TRY(cluster.all().Barrier());
  return LocalCounts(graph, std::move(region));
}

Status LocalCounts::ForEach(const OriginalIds& ids, const Visit& visit) const {
  const std::vector<VertexId> ranks = RanksByDenseId(*graph_);
  const std::span<std::uint64_t> counts = Counters(arcs_);
  for (VertexId i = 0; i < graph_->vertices(); ++i) {
    const VertexId dense = ids.InOrder(i);
    SLIM_TRY(visit(dense, {graph_->degree(ranks[dense]), counts[dense]}));
  }
  return {};
}

}  // namespace slimgraph::dkudu
