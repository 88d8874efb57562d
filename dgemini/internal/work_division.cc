#include "dgemini/internal/work_division.h"

#include <algorithm>
#include <numeric>

namespace slimgraph::dgemini {
namespace {

// Each piece has regions of its own.
constexpr NodeId kMostPieces = 16;

// The memory nodes that remain when all compute nodes have equally many.
NodeId RemainingNodes(const Topology& topology) { return topology.nodes() % topology.compute(); }

}  // namespace

std::uint32_t WorkDivision::Pieces(const Topology& topology, Delegation delegation) {
  const NodeId remaining = RemainingNodes(topology);
  if (remaining == 0 || delegation == Delegation::kNode) return 1;
  return std::min(topology.compute() / std::gcd(remaining, topology.compute()), kMostPieces);
}

// The pieces of the remaining nodes go to the compute nodes in order, so that few work for each.
WorkDivision::WorkDivision(const ChunkPartition& partition, const Topology& topology,
                           std::uint32_t sockets, std::uint32_t pieces) {
  const NodeId remaining = pieces == 1 ? 0 : RemainingNodes(topology);
  const NodeId first_remaining = topology.nodes() - remaining;
  const std::uint64_t all = std::uint64_t{remaining} * pieces;
  for (NodeId home = 0; home < topology.nodes(); ++home) {
    begin_.push_back(slots_.size());
    for (std::uint32_t place = 0; place < sockets * pieces; ++place) {
      const std::uint32_t socket = place / pieces;
      NodeId worker = topology.delegate(home);
      if (home >= first_remaining) {
        const std::uint64_t piece = std::uint64_t{home - first_remaining} * pieces + place % pieces;
        worker = static_cast<NodeId>(piece * topology.compute() / all);
      }
      const VertexPart part = partition.part(home, place);
      if (slots_.size() > begin_[home] && slots_.back().socket == socket &&
          slots_.back().worker == worker) {
        slots_.back().part.count += part.count;
      } else {
        slots_.push_back({home, socket, worker, part});
      }
    }
  }
  begin_.push_back(slots_.size());
}

WorkDivision WorkDivision::OfStandingGraph(const Topology& topology,
                                           const ChunkPartition& partition,
                                           std::span<const VertexId> cuts) {
  WorkDivision division;
  for (NodeId home = 0; home < topology.nodes(); ++home) {
    division.begin_.push_back(division.slots_.size());
    if (topology.is_compute(home)) continue;
    const VertexPart part = partition.part(home);
    for (NodeId worker = 0; worker < topology.compute(); ++worker) {
      const VertexId first = std::max(part.first, cuts[worker]);
      const VertexId end = std::min(part.first + part.count, cuts[worker + std::size_t{1}]);
      if (first < end) division.slots_.push_back({home, 0, worker, {first, 1, end - first}});
    }
  }
  division.begin_.push_back(division.slots_.size());
  return division;
}

std::size_t WorkDivision::marks_of(NodeId home) const {
  if (count_of(home) == 0) return 1;
  const bool split = slots_[begin_of(home)].worker != slots_[end_of(home) - 1].worker;
  return split ? count_of(home) : 1;
}

std::size_t WorkDivision::most_of_memory_nodes(const Topology& topology) const {
  std::size_t most = 0;
  for (NodeId home = topology.compute(); home < topology.nodes(); ++home) {
    most = std::max(most, count_of(home));
  }
  return most;
}

bool WorkDivision::has_remote(NodeId worker) const {
  return std::ranges::any_of(slots_, [worker](const WorkSlot& slot) {
    return slot.worker == worker && slot.home != worker;
  });
}

}  // namespace slimgraph::dgemini
