#include "dgemini/workload.h"

#include <algorithm>

#include "slimgraph/graph/numa.h"

namespace slimgraph {
namespace {

constexpr VertexId kBlockVertices = 1024;

void MarkNeighbours(std::span<const VertexId> lists, std::span<std::uint64_t> words) {
  for (const VertexId v : lists) {
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if ((words[v / 64] & bit) == 0) words[v / 64] |= bit;
  }
}

}  // namespace

Result<std::unique_ptr<Workload>> Workload::Load(
    Cluster& cluster, const SlimFile& file, const WorkloadNeeds& needs,
    const std::function<void(const MemoryPlan&)>& announce) {
  std::unique_ptr<Workload> work(new Workload);
  const NodeId nodes = cluster.topology().nodes();
  work->vertices_ = file.vertices();
  work->arcs_ = file.arcs();
  work->self_ = cluster.self();
  work->in_ = file.directed() ? Direction::kIn : Direction::kOut;
  work->weight_bytes_ = needs.weights ? WeightBytes(file.weight_type()) : 0;
  if (needs.pull_in && !file.has(work->in_)) {
    return InputError(
        "{} has no incoming lists: use --mode push, or convert it without --no-reverse",
        file.path());
  }
  SLIM_ASSIGN(ChunkPartition partition,
              ChunkPartition::Balance(file, Direction::kOut, nodes, SocketCount(),
                                      ChunkPartition::DefaultAlpha(nodes)));
  const GraphNeeds graph_needs{
      .out_lists = true, .in_lists = needs.pull_in, .weights = needs.weights};
  SLIM_ASSIGN(work->graph_, SharedGraph<ChunkPartition>::Load(cluster, file, std::move(partition),
                                                              graph_needs, announce));
  work->FindSlots(work->graph_->partition(), cluster.topology());
  if (cluster.computes()) {
    SLIM_TRY(work->Delegate(cluster, needs));
    work->CutBlocks();
  }
  if (cluster.topology().compute() > 1) {
    if (needs.pull_in) SLIM_TRY(work->FindNeeds(cluster, work->in_));
    if (needs.pull_out && !(needs.pull_in && work->in_ == Direction::kOut)) {
      SLIM_TRY(work->FindNeeds(cluster, Direction::kOut));
    }
  }
  SLIM_TRY(cluster.all().Barrier());
  return work;
}

void Workload::FindSlots(const ChunkPartition& partition, const Topology& topology) {
  const std::uint32_t sockets = partition.sockets();
  bool whole_words = true;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    for (std::uint32_t socket = 0; socket < sockets; ++socket) {
      const VertexPart part = partition.part(node, socket);
      whole_words = whole_words && (part.first % 64 == 0 || part.first == vertices_);
      slots_.push_back({topology.delegate(node), 0});
    }
  }
  shift_ = whole_words ? 6 : 0;
  slot_of_.resize((std::size_t{vertices_} >> shift_) + 1);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const VertexPart part = partition.part(static_cast<NodeId>(slot / sockets),
                                           static_cast<std::uint32_t>(slot % sockets));
    if (part.count == 0) continue;
    std::fill(slot_of_.begin() + (part.first >> shift_),
              slot_of_.begin() + ((part.first + part.count - 1) >> shift_) + 1,
              static_cast<std::uint16_t>(slot));
  }
}

Status Workload::Delegate(Cluster& cluster, const WorkloadNeeds& needs) {
  Fabric& fabric = cluster.fabric();
  std::vector<NodeId> nodes = cluster.topology().DelegationSet(self_);
  std::uint64_t remote_bytes = 0;
  const std::uint32_t sockets = graph_->sockets();
  const bool both = needs.pull_in && in_ == Direction::kIn;
  for (const NodeId node : nodes) {
    for (std::uint32_t socket = 0; socket < sockets; ++socket) {
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        if (direction == Direction::kIn && !both) continue;
        const ListRegions& regions = graph_->regions(direction, socket);
        const std::uint64_t bytes = fabric.region_bytes(node, regions.neighbours);
        remote_bytes += bytes + bytes / sizeof(VertexId) * weight_bytes_;
      }
    }
  }
  const std::uint64_t budget =
      needs.cache.level == CacheLevel::kEdge ? needs.cache.edges.Of(remote_bytes) : 0;
  room_ = std::make_unique<CacheRoom>(budget);
  nodes.insert(nodes.begin(), self_);
  for (const NodeId node : nodes) {
    for (std::uint32_t socket = 0; socket < sockets; ++socket) {
      const VertexPart part = graph_->partition().part(node, socket);
      slots_[std::size_t{node} * sockets + socket].segment =
          static_cast<std::uint32_t>(segments_.size());
      Segment segment{.first = part.first, .count = part.count};
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        if (direction == Direction::kIn && !both) continue;
        const int d = static_cast<int>(direction);
        if (node == self_) {
          segment.own[d] = &graph_->own(direction, socket);
          continue;
        }
        SLIM_ASSIGN(auto lists,
                    DelegatedLists::Make(fabric, fabric.endpoint(0),
                                         {node, part.first, part.count,
                                          graph_->regions(direction, socket), weight_bytes_},
                                         needs.cache.level, *room_, budget >= remote_bytes));
        segment.remote[d] = lists.get();
        delegated_.push_back(std::move(lists));
      }
      segments_.push_back(segment);
    }
  }
  return {};
}

void Workload::CutBlocks() {
  for (std::uint32_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    for (VertexId first = segment.first; first < segment.end();) {
      const std::uint64_t next = (std::uint64_t{first} / kBlockVertices + 1) * kBlockVertices;
      const auto end = static_cast<VertexId>(std::min<std::uint64_t>(next, segment.end()));
      (segment.is_own() ? own_blocks_ : remote_blocks_).push_back({s, first, end});
      first = end;
    }
  }
}

// Each node marks the neighbours of its own part; a delegate collects the marks of its memory
// nodes; then each compute node looks up what the others have marked of its share.
Status Workload::FindNeeds(Cluster& cluster, Direction direction) {
  const std::size_t words = (std::size_t{vertices_} + 63) / 64;
  SLIM_ASSIGN(const SharedRegion region, cluster.fabric().Share(words * sizeof(std::uint64_t)));
  const std::span<std::uint64_t> marks(reinterpret_cast<std::uint64_t*>(region.memory.data()),
                                       words);
  for (std::uint32_t socket = 0; socket < graph_->sockets(); ++socket) {
    MarkNeighbours(graph_->own(direction, socket).neighbours, marks);
  }
  SLIM_TRY(cluster.all().Barrier());
  std::vector<std::uint64_t> theirs(words);
  if (cluster.computes()) {
    for (const NodeId node : cluster.topology().DelegationSet(self_)) {
      SLIM_TRY(ReadNeeds(cluster, node, region.id, theirs));
      for (std::size_t i = 0; i < words; ++i) marks[i] |= theirs[i];
    }
  }
  SLIM_TRY(cluster.all().Barrier());
  if (!cluster.computes()) return {};
  if (direction == Direction::kOut) met_.assign(marks.begin(), marks.end());
  auto& needed = needed_[static_cast<int>(direction)];
  needed.resize(cluster.topology().compute());
  for (NodeId peer = 0; peer < needed.size(); ++peer) {
    if (peer == self_) continue;
    SLIM_TRY(ReadNeeds(cluster, peer, region.id, theirs));
    needed[peer] = VertexArray<std::uint64_t>(words);
    for (const Segment& segment : segments_) {
      for (std::uint64_t v = segment.first; v < segment.end();) {
        const std::uint64_t end = std::min<std::uint64_t>((v / 64 + 1) * 64, segment.end());
        const std::uint64_t up_to = end % 64 == 0 ? ~std::uint64_t{0} : (1ULL << end % 64) - 1;
        needed[peer][v / 64] |= theirs[v / 64] & up_to & (~std::uint64_t{0} << v % 64);
        v = end;
      }
    }
  }
  return {};
}

Status Workload::ReadNeeds(Cluster& cluster, NodeId from, RegionId region,
                           std::span<std::uint64_t> into) {
  if (into.empty()) return {};
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  endpoint.Read(from, region, 0, std::as_writable_bytes(into));
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot read what node {} needs: {}", from, OutcomeName(outcome));
}

std::vector<Bytes> Workload::own_weights() const {
  std::vector<Bytes> weights;
  for (std::uint32_t socket = 0; socket < graph_->sockets(); ++socket) {
    weights.emplace_back(graph_->own(Direction::kOut, socket).weights);
  }
  return weights;
}

std::uint64_t Workload::remote_arcs() const {
  std::uint64_t arcs = 0;
  for (const auto& lists : delegated_) arcs += lists->arcs();
  return arcs;
}

std::uint64_t Workload::index_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lists : delegated_) bytes += lists->bytes_at_hand();
  return bytes;
}

}  // namespace slimgraph
