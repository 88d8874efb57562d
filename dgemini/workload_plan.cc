#include "dgemini/workload_plan.h"

#include <algorithm>

#include "slimgraph/base/units.h"
#include "slimgraph/base/usage.h"
#include "slimgraph/cluster/gather.h"
#include "slimgraph/graph/shared_graph.h"
#include "slimgraph/remote/list_reader.h"
#include "slimgraph/remote/neighbour_summary.h"
#include "slimgraph/remote/served_lists.h"

namespace slimgraph::dgemini {
namespace {

// Measures the lists of `part` from the offsets alone. Reads each block of the offsets once.
Result<SlotSize> MeasureSlot(const GraphSource& file, const VertexPart& part, Direction direction) {
  constexpr std::uint64_t kPiece = kSlimBlockBytes / sizeof(EdgeOffset);
  const ListCode code(file.vertices());
  SlotSize slot;
  std::vector<EdgeOffset> offsets;
  // The offsets from the beginning of the first list to the end of the last one.
  const std::uint64_t end = std::uint64_t{part.first} + part.count + 1;
  EdgeOffset begin = 0;  // where the next list begins
  for (std::uint64_t first = part.first; part.count > 0 && first < end; first += offsets.size()) {
    offsets.resize(std::min(kPiece - first % kPiece, end - first));
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(offsets), 1));
    for (std::size_t i = first == part.first ? 1 : 0; i < offsets.size(); ++i) {
      const EdgeOffset before = i == 0 ? begin : offsets[i - 1];
      if (offsets[i] < before || offsets[i] > file.arcs()) {
        return InputError("{}: the offsets of its lists fall at vertex {}", file.path(),
                          first + i - 1);
      }
      const EdgeOffset length = offsets[i] - before;
      slot.arcs += length;
      slot.coded_bytes += code.Bytes(length);
      slot.longest = std::max(slot.longest, length);
    }
    begin = offsets.back();
  }
  return slot;
}

std::uint64_t ArcBytes(const GraphSource& file, const WorkloadNeeds& needs) {
  return sizeof(VertexId) + (needs.weights ? WeightBytes(file.weight_type()) : 0);
}

// Computes the memory of one node.
class NodePlanner {
 public:
  NodePlanner(Cluster& cluster, const GraphSource& file, const WorkDivision& division,
              const WorkloadNeeds& needs, const WorkloadSizes& sizes, NodeId node)
      : cluster_(cluster),
        file_(file),
        division_(division),
        needs_(needs),
        sizes_(sizes),
        node_(node),
        arc_bytes_(ArcBytes(file, needs)) {}

  std::uint64_t OwnBytes() const {
    std::uint64_t bytes = kProcessBytes + BitmapBytes();
    if (!cluster_.topology().is_compute(node_)) {
      std::uint64_t served = 0;
      ForEachLists([&](const WorkSlot& slot, const SlotSize& size) {
        const bool loads = slot.home == node_ && !sizes_.standing;
        if (loads) served += ServedBytes(slot.part.count, size);
      });
      return bytes + std::max(LoadingThreads(cluster_) * kLoadBytes, ReducingBytes()) + served;
    }
    std::uint64_t share = 0;
    for (const WorkSlot& slot : division_.slots()) {
      if (slot.worker == node_) share += slot.part.count;
    }
    std::uint64_t remote_bytes = 0;
    EdgeOffset longest = 0;  // of other nodes' lists
    EdgeOffset longest_own = 0;
    ForEachLists([&](const WorkSlot& slot, const SlotSize& size) {
      if (slot.worker != node_) return;
      if (slot.home == node_) {
        bytes += (slot.part.count + std::uint64_t{1}) * sizeof(EdgeOffset) + size.arcs * arc_bytes_;
        longest_own = std::max(longest_own, size.longest);
      } else {
        bytes += IndexBytes(slot.part.count, size);
        remote_bytes += size.arcs * arc_bytes_;
        longest = std::max(longest, size.longest);
      }
    });
    if (needs_.cache.level == CacheLevel::kEdge) {
      bytes += std::min(remote_bytes, needs_.cache.edges.Of(remote_bytes));
    }
    if (longest > 0) {
      const std::uint64_t batch =
          std::max(longest, kMaxBatchArcs) * arc_bytes_ +
          std::min<std::uint64_t>(kMaxBatchItems, file_.vertices()) * sizeof(ListItem);
      bytes += cluster_.threads() * (ListReader::kBatches * batch + longest);
    }
    bytes += static_cast<std::uint64_t>(needs_.list_bytes * cluster_.threads() *
                                        static_cast<double>(std::max(longest, longest_own)));
    return bytes + ValueBytes(share) + MessageBytes(share) + EarlyBytes(share) + ResultBytes();
  }

  // Pages that a node reads of another node's memory, or of a copy of it, count for it, too. So
  // does the memory of a pool that a memory node reads for others.
  std::uint64_t MappedBytes() const {
    const MemorySide side = needs_.cache.side;
    const bool computes = cluster_.topology().is_compute(node_);
    const bool maps_others = cluster_.maps_far_memory() && side != MemorySide::kServe;
    // To mark who needs which vertices, if the summary does not tell that.
    const bool marks = (needs_.pull_in || needs_.pull_out) &&
                       WorkloadReaders(cluster_.topology(), needs_.cache) > 1;
    const bool visits =
        marks && (!sizes_.summary_suffices || (file_.directed() && needs_.pull_out));
    const bool reads_own = sizes_.standing && (side != MemorySide::kStrict || visits ||
                                               cluster_.options().transport != "shm");
    std::uint64_t bytes = 0;
    if (!computes && marks && sizes_.summarized) {
      bytes = OwnVertices() * sizeof(NeighbourSummary::Word);
    }
    if (computes ? !maps_others : !reads_own) return bytes;
    ForEachLists([&](const WorkSlot& slot, const SlotSize& size) {
      const bool counts =
          computes ? slot.worker == node_ && slot.home != node_ : slot.home == node_;
      if (counts) bytes += ServedBytes(slot.part.count, size);
    });
    return bytes;
  }

 private:
  static constexpr std::uint64_t kProcessBytes = 2 << 20;  // code and libraries touched later
  static constexpr std::uint64_t kLoadBytes = 3 << 20;     // a thread's buffers while loading

  std::uint64_t OwnVertices() const {
    std::uint64_t count = 0;
    for (const WorkSlot& slot : division_.slots()) {
      if (slot.home == node_) count += slot.part.count;
    }
    return count;
  }

  // Calls visit(slot, size) for the lists of each slot and each direction that is loaded.
  template <typename Visit>
  void ForEachLists(Visit visit) const {
    for (const auto& sizes : sizes_.slots) {
      for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
        visit(division_.slots()[slot], sizes[slot]);
      }
    }
  }

  std::uint64_t ServedBytes(VertexId count, const SlotSize& size) const {
    return OffsetGroups(count) * sizeof(OffsetGroup) + size.coded_bytes +
           size.arcs * (arc_bytes_ - sizeof(VertexId));
  }

  bool reduces() const {
    return WorkloadReaders(cluster_.topology(), needs_.cache) > cluster_.topology().compute();
  }
  static constexpr std::uint64_t kResultBytes = 2 * (sizeof(double) + sizeof(std::uint16_t));

  // What a memory node takes to reduce: values, frontiers, decoded lists and results.
  std::uint64_t ReducingBytes() const {
    if (!reduces()) return 0;
    EdgeOffset longest = 0;
    std::uint64_t count = 0;
    ForEachLists([&](const WorkSlot& slot, const SlotSize& size) {
      if (slot.home != node_) return;
      longest = std::max(longest, size.longest);
      count += slot.part.count;
    });
    const auto values = static_cast<std::uint64_t>(needs_.vertex_bytes * file_.vertices());
    return values + file_.vertices() / 4 + count * kResultBytes +
           cluster_.threads() * (2 * longest + kMaxBatchArcs) * sizeof(VertexId);
  }
  // What a compute node takes for the results of memory nodes.
  std::uint64_t ResultBytes() const {
    if (!reduces()) return 0;
    std::uint64_t count = 0;
    for (const WorkSlot& slot : division_.slots()) {
      if (slot.worker == node_ && slot.home != node_) count += slot.part.count;
    }
    return file_.vertices() / 4 + count * kResultBytes;
  }

  std::uint64_t IndexBytes(VertexId count, const SlotSize& size) const {
    if (needs_.cache.level <= CacheLevel::kNone) return 0;
    if (needs_.cache.level == CacheLevel::kBitmap) return count / 8;
    const VertexId cached = needs_.cache.level == CacheLevel::kEdge ? count : 0;
    return CompactOffsets::Bytes(count, size.arcs) +
           CompactOffsets::Groups(cached) * EdgeCache::kGroupBytes;
  }

  // The bitmaps of which node's lists contain which vertices.
  std::uint64_t BitmapBytes() const {
    const std::uint64_t compute = cluster_.topology().compute();
    const std::uint64_t readers = WorkloadReaders(cluster_.topology(), needs_.cache);
    if (readers < 2) return 0;
    const std::uint64_t each = file_.vertices() / 8;
    std::uint64_t directions = 0;
    std::uint64_t at_homes = 0;  // of them, those whose marks are at the homes of vertices
    for (std::size_t direction = 0; direction < 2; ++direction) {
      if (sizes_.slots[direction].empty()) continue;
      ++directions;
      const bool in = direction == static_cast<std::size_t>(Direction::kIn);
      if (!file_.directed() || (sizes_.summarized && in)) ++at_homes;
    }
    // A compute node has its own marks, a copy of another node's marks, and the bitmaps needed_by
    // and referenced.
    if (cluster_.topology().is_compute(node_)) {
      return directions * each * (readers / compute + (readers > compute ? 6 : 3));
    }
    const std::uint64_t words = OwnVertices() / 64 + 2;  // of a bitmap of the node's vertices
    return at_homes * readers * words * sizeof(std::uint64_t) +
           (directions - at_homes) * each * division_.marks_of(node_);
  }

  // Values are in huge pages. The huge pages at the ends of a share also hold other nodes' values.
  std::uint64_t ValueBytes(std::uint64_t share) const {
    const double others = static_cast<double>(file_.vertices() - share) * sizeof(double);
    const double arrays = needs_.share_bytes / sizeof(double);
    return static_cast<std::uint64_t>(needs_.vertex_bytes * file_.vertices() +
                                      needs_.share_bytes * static_cast<double>(share) +
                                      arrays * std::min<double>(kHugePageBytes, others));
  }
  static constexpr std::uint64_t kHugePageBytes = 2 << 20;

  // A step sends a vertex to a peer at most once, so messages between many nodes are short.
  std::uint64_t MessageBytes(std::uint64_t share) const {
    const std::uint64_t peers = cluster_.topology().nodes() - 1;
    const std::uint64_t longest = share * (sizeof(VertexId) + sizeof(std::uint64_t));
    const std::uint64_t rings = cluster_.options().transport == "sim" ? 0 : 2 * kRingBytes;
    return peers * (std::min<std::uint64_t>(kMaxMessageBytes, 2 * longest) + rings);
  }
  // While a delegate waits for lists, it buffers early messages of compute nodes that have finished
  // the step. Each of them sends a vertex of the share at most once in a step.
  std::uint64_t EarlyBytes(std::uint64_t share) const {
    if (!division_.has_remote(node_)) return 0;
    return (cluster_.topology().compute() - 1) * share * (sizeof(VertexId) + sizeof(double));
  }
  static constexpr std::uint64_t kRingBytes = 128 << 10;  // a message ring, per peer and direction

  Cluster& cluster_;
  const GraphSource& file_;
  const WorkDivision& division_;
  const WorkloadNeeds& needs_;
  const WorkloadSizes& sizes_;
  NodeId node_;
  std::uint64_t arc_bytes_;
};

}  // namespace

std::size_t WorkloadReaders(const Topology& topology, const CacheOptions& cache) {
  const bool reduces = MayReduce(cache.side) && topology.compute() < topology.nodes();
  return topology.compute() + (reduces ? topology.nodes() : std::size_t{0});
}

Result<WorkloadSizes> MeasureWorkload(Cluster& cluster, const GraphSource& file,
                                      const WorkDivision& division,
                                      const std::vector<Direction>& directions) {
  std::vector<SlotSize> mine;
  const NodeId self = cluster.self();
  for (const Direction direction : directions) {
    for (std::size_t slot = division.begin_of(self); slot < division.end_of(self); ++slot) {
      SLIM_ASSIGN(const SlotSize size, MeasureSlot(file, division.slots()[slot].part, direction));
      mine.push_back(size);
    }
  }
  return GatherSizes(cluster, division, directions, mine);
}

Result<WorkloadSizes> GatherSizes(Cluster& cluster, const WorkDivision& division,
                                  const std::vector<Direction>& directions,
                                  const std::vector<SlotSize>& mine) {
  SLIM_ASSIGN(const auto all, GatherByRank<SlotSize>(cluster.all(), mine));
  WorkloadSizes sizes;
  const std::uint64_t held = ResidentMemoryBytes();
  SLIM_ASSIGN(sizes.held_bytes, GatherList(cluster.all(), std::span(&held, 1)));
  for (NodeId home = 0; home < all.size(); ++home) {
    for (std::size_t i = 0; i < all[home].size(); ++i) {
      const Direction direction = directions[i / division.count_of(home)];
      sizes.slots[static_cast<int>(direction)].push_back(all[home][i]);
    }
  }
  return sizes;
}

MemoryPlan PlanWorkload(Cluster& cluster, const GraphSource& file, const WorkDivision& division,
                        const WorkloadNeeds& needs, const WorkloadSizes& sizes) {
  const Topology& topology = cluster.topology();
  MemoryPlan plan;
  plan.what = "the job";
  plan.held_bytes = *std::min_element(sizes.held_bytes.begin(), sizes.held_bytes.end());
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    const NodePlanner planner{cluster, file, division, needs, sizes, node};
    plan.mapped_bytes.push_back(planner.MappedBytes());
    plan.node_bytes.push_back(sizes.held_bytes[node] + planner.OwnBytes() +
                              plan.mapped_bytes.back());
  }
  return plan;
}

Status CheckEdgeBudget(const Topology& topology, const GraphSource& file,
                       const WorkDivision& division, const WorkloadNeeds& needs,
                       const WorkloadSizes& sizes) {
  const EdgeBudget& budget = needs.cache.edges;
  if (needs.cache.level != CacheLevel::kEdge || budget.in_percent || budget.bytes == 0) return {};
  const std::uint64_t arc_bytes = ArcBytes(file, needs);
  for (const auto& slots : sizes.slots) {
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      const NodeId node = division.slots()[slot].home;
      const std::uint64_t bytes = slots[slot].longest * arc_bytes;
      if (topology.is_compute(node) || bytes <= budget.bytes) continue;
      return InputError(
          "--edge-cache {} has no room for the longest list of node {}, which takes {}: give more, "
          "a share such as 5%, or 0 for no such cache",
          FormatBytes(budget.bytes), node, FormatBytes(bytes));
    }
  }
  return {};
}

}  // namespace slimgraph::dgemini
