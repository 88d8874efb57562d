#include "dkudu/internal/sharing/root_flags.h"

#include <algorithm>
#include <utility>

namespace slimgraph::dkudu {
namespace {

Status ReadFlags(Endpoint& endpoint, NodeId node, RegionId region, std::size_t first,
                 std::span<RootFlags::Flags> into) {
  endpoint.Read(node, region, first * sizeof(RootFlags::Flags), std::as_writable_bytes(into));
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot read the flags of node {}: {}", node, OutcomeName(outcome));
}

}  // namespace

std::uint64_t RootFlags::Bytes(const MiningGraph& graph) {
  const std::uint64_t vertices = graph.vertices();
  return (2 * vertices + 2 * PiecesOf(vertices) + kPiece) * sizeof(Flags);
}

Result<RootFlags> RootFlags::Make(MiningJob& job) {
  const VertexId vertices = job.graph.vertices();
  SLIM_ASSIGN(auto region,
              job.regions.Take(job.cluster, (PiecesOf(vertices) + vertices) * sizeof(Flags)));
  RootFlags flags(vertices, std::move(region));
  if (job.cluster.computes()) flags.now_.resize(vertices);
  return flags;
}

Status RootFlags::BeginRound(Cluster& cluster) {
  if (!cluster.computes()) return {};
  std::copy(next().begin(), next().end(), now_.begin());
  for (NodeId node = 0; node < cluster.topology().compute(); ++node) {
    if (node == cluster.self()) continue;
    SLIM_TRY(AddFlagsOf(cluster.fabric().endpoint(0), node));
  }
  SLIM_TRY(cluster.compute().Barrier());  // all have read what is now cleared
  std::fill(words().begin(), words().end(), 0);
  return {};
}

Status RootFlags::AddFlagsOf(Endpoint& endpoint, NodeId node) {
  const std::size_t pieces = PiecesOf(vertices_);
  std::vector<Flags> has_flags(pieces);
  SLIM_TRY(ReadFlags(endpoint, node, region_.id(), 0, has_flags));
  std::vector<Flags> theirs(kPiece);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    if (has_flags[piece] == 0) continue;
    const std::size_t first = piece * kPiece;
    const std::span some = std::span(theirs).first(std::min(kPiece, vertices_ - first));
    SLIM_TRY(ReadFlags(endpoint, node, region_.id(), pieces + first, some));
    for (std::size_t i = 0; i < some.size(); ++i) now_[first + i] |= some[i];
  }
  return {};
}

}  // namespace slimgraph::dkudu
