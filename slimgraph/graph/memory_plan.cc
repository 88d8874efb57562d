#include "slimgraph/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

template <typename Partition>
Status AddArcs(const GraphSource& file, const Partition& partition, Direction direction,
               std::vector<PartSize>& parts) {
  constexpr std::size_t kPiece = 1 << 20;
  const std::size_t vertices = file.vertices();
  std::vector<EdgeOffset> piece;
  for (std::size_t first = 0; first < vertices; first += kPiece) {
    piece.resize(std::min(kPiece, vertices - first) + 1);
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece)));
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      PartSize& part = parts[partition.owner(static_cast<VertexId>(first + i))];
      (direction == Direction::kOut ? part.out_arcs : part.in_arcs) += piece[i + 1] - piece[i];
    }
  }
  return {};
}

}  // namespace

template <typename Partition>
Result<std::vector<PartSize>> PartSizes(const GraphSource& file, const Partition& partition,
                                        const GraphNeeds& needs) {
  std::vector<PartSize> parts(partition.nodes());
  for (NodeId node = 0; node < partition.nodes(); ++node) {
    parts[node].vertices = partition.part(node).count;
  }
  if (needs.out_lists) SLIM_TRY(AddArcs(file, partition, Direction::kOut, parts));
  if (needs.in_lists && file.directed()) {
    SLIM_TRY(AddArcs(file, partition, Direction::kIn, parts));
  }
  return parts;
}

template Result<std::vector<PartSize>> PartSizes(const GraphSource&, const ChunkPartition&,
                                                 const GraphNeeds&);
template Result<std::vector<PartSize>> PartSizes(const GraphSource&, const HashPartition&,
                                                 const GraphNeeds&);

std::uint64_t MemoryPlan::largest() const {
  std::uint64_t largest = 0;
  for (NodeId node = 0; node < node_bytes.size(); ++node) {
    largest = std::max(largest, held_bytes + more_bytes(node));
  }
  return largest;
}

std::uint64_t MemoryPlan::total() const {
  return std::accumulate(node_bytes.begin(), node_bytes.end(), std::uint64_t{0}) -
         std::accumulate(mapped_bytes.begin(), mapped_bytes.end(), std::uint64_t{0});
}

std::uint64_t MemoryPlan::more_bytes(NodeId node) const {
  return node_bytes.at(node) - held_bytes - (mapped_bytes.empty() ? 0 : mapped_bytes[node]);
}

MemoryPlan PlanMemory(const GraphSource& file, const std::vector<PartSize>& parts,
                      const GraphNeeds& needs) {
  const std::uint64_t arc_bytes =
      sizeof(VertexId) + (needs.weights ? WeightBytes(file.weight_type()) : 0);
  const bool in_lists = needs.in_lists && file.directed();
  MemoryPlan plan;
  for (const PartSize& part : parts) {
    const std::uint64_t offset_bytes = (std::uint64_t{part.vertices} + 1) * sizeof(EdgeOffset);
    std::uint64_t bytes = 0;
    if (needs.out_lists) bytes += offset_bytes + part.out_arcs * arc_bytes;
    if (in_lists) bytes += offset_bytes + part.in_arcs * arc_bytes;
    plan.node_bytes.push_back(bytes);
  }
  return plan;
}

std::string Describe(const MemoryPlan& plan) {
  std::uint64_t mapped = 0;
  for (const std::uint64_t bytes : plan.mapped_bytes) mapped = std::max(mapped, bytes);
  return fmt::format("{} takes {} on the largest of {} node{}, {} in all{}", plan.what,
                     FormatBytes(plan.largest()), plan.node_bytes.size(),
                     plan.node_bytes.size() == 1 ? "" : "s", FormatBytes(plan.total()),
                     mapped == 0 ? ""
                                 : fmt::format("; a node also maps up to {} of other nodes' memory",
                                               FormatBytes(mapped)));
}

Status CheckFits(const MemoryPlan& plan, const std::vector<NodeId>& nodes_here,
                 const Quota& quota) {
  std::uint64_t needed = 0;
  const std::uint64_t limit = NodeMemoryLimit();
  for (const NodeId node : nodes_here) {
    const std::uint64_t bytes = plan.more_bytes(node);
    needed += bytes;
    if (quota.memory_bytes != 0 && quota.lends(node) && bytes > quota.memory_bytes) {
      return EnvironmentError(
          "{} needs {} on node {} of the pool, and may take {} there (pool start --job-memory)",
          plan.what, FormatBytes(bytes), node - quota.first_lender,
          FormatBytes(quota.memory_bytes));
    }
    if (limit == 0 || bytes <= limit) continue;
    return EnvironmentError("{} needs {} more on node {}, and a node may hold {} (--node-memory)",
                            plan.what, FormatBytes(bytes), node, FormatBytes(limit));
  }
  const std::uint64_t available = AvailableMemory();
  if (needed <= available) return {};
  return EnvironmentError(
      "{} needs {} for {} node(s) on this machine, which has {} left: spread the job over more "
      "machines, or use ones with more memory",
      plan.what, FormatBytes(needed), nodes_here.size(), FormatBytes(available));
}

}  // namespace slimgraph
