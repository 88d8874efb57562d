#include "dgemini/workload_plan.h"

#include <algorithm>

#include "slimgraph/remote/compact_offsets.h"
#include "slimgraph/remote/served_lists.h"

namespace slimgraph {
namespace {

Result<std::vector<SlotSize>> MeasureSlots(const SlimFile& file, const ChunkPartition& partition,
                                           Direction direction) {
  constexpr std::uint64_t kPiece = 1 << 17;
  const ListCode code(file.vertices());
  std::vector<SlotSize> slots(std::size_t{partition.nodes()} * partition.sockets());
  std::vector<EdgeOffset> offsets;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const VertexPart part = partition.part(static_cast<NodeId>(slot / partition.sockets()),
                                           static_cast<std::uint32_t>(slot % partition.sockets()));
    for (std::uint64_t done = 0; done < part.count; done += kPiece) {
      offsets.resize(std::min(kPiece, part.count - done) + 1);
      SLIM_TRY(
          file.ReadElements(file.offsets(direction), part.first + done, std::span(offsets), 1));
      for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const EdgeOffset length = offsets[i + 1] - offsets[i];
        slots[slot].arcs += length;
        slots[slot].coded_bytes += code.Bytes(length);
        slots[slot].longest = std::max(slots[slot].longest, length);
        slots[slot].long_lists += length >= CompactOffsets::kLong ? 1 : 0;
      }
    }
  }
  return slots;
}

}  // namespace

Result<WorkloadSizes> MeasureWorkload(const SlimFile& file, const ChunkPartition& partition,
                                      const std::vector<Direction>& directions) {
  WorkloadSizes sizes;
  for (const Direction direction : directions) {
    SLIM_ASSIGN(sizes.slots[static_cast<int>(direction)], MeasureSlots(file, partition, direction));
  }
  return sizes;
}

MemoryPlan PlanWorkload(const SlimFile& file, const ChunkPartition& partition,
                        const Topology& topology, const WorkloadNeeds& needs,
                        const WorkloadSizes& sizes) {
  MemoryPlan plan;
  plan.node_bytes.resize(topology.nodes());
  const std::size_t weight_bytes = needs.weights ? WeightBytes(file.weight_type()) : 0;
  for (const auto& slots : sizes.slots) {
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      const auto node = static_cast<NodeId>(slot / partition.sockets());
      const std::uint64_t count =
          partition.part(node, static_cast<std::uint32_t>(slot % partition.sockets())).count;
      plan.node_bytes[node] += slots[slot].arcs * weight_bytes;
      plan.node_bytes[node] +=
          topology.is_compute(node)
              ? (count + 1) * sizeof(EdgeOffset) + slots[slot].arcs * sizeof(VertexId)
              : PlaceGroups(static_cast<VertexId>(count)) * sizeof(PlaceGroup) +
                    slots[slot].coded_bytes;
    }
  }
  return plan;
}

}  // namespace slimgraph
