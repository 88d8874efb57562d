#include "txnlayer/graph/snapshot.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "txnlayer/graph/internal/list_merger.h"
#include "txnlayer/graph/internal/moments.h"

namespace slimgraph::txn {
namespace {

// The positions of lists are stored once per group of so many vertices.
constexpr VertexId kGroup = 1024;
// Allocates this fraction more than needed, because the next snapshot may be larger.
constexpr std::uint64_t kSpareShare = 16;
// Arcs read at a time.
constexpr EdgeOffset kPieceArcs = 1 << 20;

bool IsWeights(SectionKind kind) {
  return kind == SectionKind::kOutWeights || kind == SectionKind::kInWeights;
}
bool IsOffsets(SectionKind kind) {
  return kind == SectionKind::kOutOffsets || kind == SectionKind::kInOffsets;
}

}  // namespace

// All nodes have read everything of earlier snapshots when they call this.
Result<SharedRegion> SnapshotMemory::AtLeast(std::uint64_t bytes,
                                             std::optional<SharedRegion>& region) {
  const bool fits = region && region->memory.size() >= bytes;
  SLIM_ASSIGN(const auto one_does_not, cluster_.all().AllMax<std::uint64_t>(fits ? 0 : 1));
  if (one_does_not == 0) return *region;
  if (region) cluster_.fabric().Clear(region->id);
  SLIM_ASSIGN(region, cluster_.fabric().Share(bytes + bytes / kSpareShare));
  return *region;
}

Result<std::unique_ptr<Snapshot>> Snapshot::Take(SnapshotMemory& room, TransactionalGraph& graph) {
  Cluster& cluster = room.cluster();
  std::unique_ptr<Snapshot> snapshot(new Snapshot(room));
  SLIM_ASSIGN(const GraphTurn turn, GraphTurn::Take(cluster, graph));
  const std::uint64_t start_ns = NowNs();
  PartitionHolders holders;
  const auto pin = [&](GraphTime time) -> Status {
    graph.Pin(time);
    SLIM_ASSIGN(holders, PartitionHolders::Find(cluster, graph.engine().view()));
    return {};
  };
  // If this fails, for example because a node dies, the graph is unpinned below.
  const auto moment = BetweenCommits(cluster, graph, pin);
  Status done = moment ? Status() : Status(tl::unexpected<Error>(moment.error()));
  if (done) {
    snapshot->time_ = moment->time;
    snapshot->in_run_ = moment->in_run;
    done = snapshot->Gather(graph, holders);
  }
  // Other nodes' transactions also change blocks of this node, so all nodes must have finished
  // before any of them unpins.
  if (done) done = cluster.all().Barrier();
  graph.Unpin();
  SLIM_TRY(done);
  snapshot->gather_s_ = SecondsSince(start_ns) - moment->seconds;
  SLIM_ASSIGN(snapshot->pause_s_, cluster.all().AllMax(moment->seconds));
  snapshot->path_ = fmt::format("the snapshot of time {}", snapshot->time_);
  return snapshot;
}

double Snapshot::StalenessSeconds() const {
  const auto ms = [](GraphTime time) { return static_cast<double>(time >> kLogicalBits); };
  return std::max(0.0, ms(HybridClock::Physical()) - ms(time_)) * 1e-3;
}

Status Snapshot::Gather(TransactionalGraph& graph, const PartitionHolders& holders) {
  const BaseGraph& base = graph.base();
  const bool weighted = graph.shape().weights != WeightType::kNone;
  EdgeChanges changes =
      FindEdges(graph, holders, time_, weighted, [](VertexName, VertexName) { return true; });
  SLIM_ASSIGN(VertexChanges changed, FindVertices(cluster_, graph, holders, time_));
  const SnapshotVertices vertices(holders, base, std::move(changed));
  SLIM_ASSIGN(const EdgeChanges brought,
              SendToHolders(
                  cluster_, std::move(changes), weighted ? graph.shape().edge_bytes : 0,
                  [&](VertexName vertex) { return vertices.HolderOf(vertex); },
                  [&](std::uint64_t bytes) { return room_.ForChanges(bytes); }));
  SLIM_TRY(MergeLists(graph, holders, vertices, brought));
  return cluster_.all().Barrier();  // all lists are complete
}

Status Snapshot::MergeLists(TransactionalGraph& graph, const PartitionHolders& holders,
                            const SnapshotVertices& vertices, const EdgeChanges& changes) {
  const GraphShape& shape = graph.shape();
  ListMerger merger(graph, holders, cluster_.self(), vertices, changes);
  ids_ = VertexIds(shape, merger.ids());
  SLIM_ASSIGN(const SharedRegion region, room_.ForLists(merger.most_arcs() * sizeof(VertexId)));
  region_ = region.id;
  ListMerger::Target into{reinterpret_cast<VertexId*>(region.memory.data()), nullptr};
  if (shape.weights != WeightType::kNone) {
    SLIM_ASSIGN(const SharedRegion weights,
                room_.ForWeights(merger.most_arcs() * shape.weight_bytes()));
    weights_region_ = weights.id;
    into.weights = weights.memory.data();
  }
  std::vector<EdgeOffset> held(cluster_.topology().nodes());
  for (const Direction direction : DirectionsOf(shape)) {
    Lists& lists = lists_[static_cast<std::size_t>(direction)];
    lists.holders.reserve(ids_.count());
    std::vector<std::uint32_t> lengths;
    merger.Merge(direction, into, lists.holders, lengths);
    SLIM_TRY(FindOffsets(lengths, held, lists));
  }
  SLIM_ASSIGN(const std::uint64_t loops, cluster_.all().AllSum(merger.loops()));
  header_.vertices = ids_.count();
  header_.arcs = lists_of(Direction::kOut).offsets.back();
  header_.edges = shape.directed ? header_.arcs : (header_.arcs - loops) / 2 + loops;
  header_.flags = (shape.directed ? kSlimDirected : 0U) | (loops > 0 ? kSlimSelfLoops : 0U);
  header_.weight_type = shape.weights;
  header_.checksums_checksum = time_;
  return {};
}

// `held`: by node, the number of arcs in the lists before. Updated.
Status Snapshot::FindOffsets(std::span<const std::uint32_t> own_lengths,
                             std::vector<EdgeOffset>& held, Lists& lists) const {
  SLIM_ASSIGN(const auto all, cluster_.all().AllGather(std::as_bytes(own_lengths)));
  std::vector<const std::byte*> next;
  for (const auto& theirs : all) next.push_back(theirs.data());
  lists.offsets.reserve(std::size_t{ids_.count()} + 1);
  lists.offsets.push_back(0);
  for (VertexId v = 0; v < ids_.count(); ++v) {
    if (v % kGroup == 0) {
      lists.held_before.insert(lists.held_before.end(), held.begin(), held.end());
    }
    const NodeId holder = lists.holders[v];
    std::uint32_t length;
    std::memcpy(&length, next[holder], sizeof length);
    next[holder] += sizeof length;
    held[holder] += length;
    lists.offsets.push_back(lists.offsets.back() + length);
  }
  return {};
}

const Snapshot::Lists* Snapshot::ListsIn(SectionKind kind) const {
  for (const Direction direction : {Direction::kIn, Direction::kOut}) {
    const Lists& lists = lists_of(direction);
    if (lists.offsets.empty()) continue;
    if (kind == offsets(direction) || kind == neighbours(direction)) return &lists;
    if (kind == weights(direction) && weight_type() != WeightType::kNone) return &lists;
  }
  return nullptr;
}

std::uint64_t Snapshot::section_bytes(SectionKind kind) const {
  const Lists* const lists = ListsIn(kind);
  if (lists == nullptr) return 0;
  if (IsOffsets(kind)) return lists->offsets.size() * sizeof(EdgeOffset);
  return arcs() * (IsWeights(kind) ? WeightBytes(weight_type()) : sizeof(VertexId));
}

Status Snapshot::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                      std::size_t) const {
  SLIM_CHECK(first_byte + into.size() <= section_bytes(kind), "beyond the end of a snapshot");
  if (into.empty()) return {};
  const Lists& from = *ListsIn(kind);
  if (IsOffsets(kind)) {
    const Bytes all = std::as_bytes(std::span(from.offsets));
    std::memcpy(into.data(), all.data() + first_byte, into.size());
    return {};
  }
  const std::size_t each = IsWeights(kind) ? WeightBytes(weight_type()) : sizeof(VertexId);
  const RegionId region = IsWeights(kind) ? weights_region_ : region_;
  SLIM_CHECK(first_byte % each == 0 && into.size() % each == 0);
  for (std::size_t at = 0; at < into.size(); at += kPieceArcs * each) {
    const auto piece = into.subspan(at, std::min(kPieceArcs * each, into.size() - at));
    SLIM_TRY(ReadArcs(from, region, each, (first_byte + at) / each, piece));
  }
  return {};
}

// On each node, the range of arcs is one contiguous piece.
Status Snapshot::ReadArcs(const Lists& lists, RegionId region, std::size_t each, EdgeOffset first,
                          MutableBytes into) const {
  const std::vector<std::uint16_t>& holders = lists.holders;
  const std::vector<EdgeOffset>& offsets = lists.offsets;
  const EdgeOffset end = first + into.size() / each;
  const auto begin_vertex = static_cast<VertexId>(
      std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1);
  struct Piece {
    EdgeOffset begin = 0;  // in the node's lists
    EdgeOffset count = 0;
    std::vector<std::byte> room;
    const std::byte* next = nullptr;
  };
  const NodeId nodes = cluster_.topology().nodes();
  std::vector<Piece> pieces(nodes);
  const VertexId group = begin_vertex / kGroup;
  for (NodeId node = 0; node < nodes; ++node) {
    pieces[node].begin = lists.held_before[std::size_t{group} * nodes + node];
  }
  for (VertexId v = group * kGroup; v < begin_vertex; ++v) {
    pieces[holders[v]].begin += offsets[std::size_t{v} + 1] - offsets[v];
  }
  pieces[holders[begin_vertex]].begin += first - offsets[begin_vertex];
  const auto for_each_list = [&](auto visit) {
    for (std::size_t v = begin_vertex; v < vertices() && offsets[v] < end; ++v) {
      visit(pieces[holders[v]], std::min(end, offsets[v + 1]) - std::max(first, offsets[v]));
    }
  };
  for_each_list([](Piece& piece, EdgeOffset count) { piece.count += count; });
  {
    const std::lock_guard lock(reading_);
    Fabric& fabric = cluster_.fabric();
    Endpoint& endpoint = fabric.endpoint(0);
    for (NodeId node = 0; node < nodes; ++node) {
      Piece& piece = pieces[node];
      if (piece.count == 0) continue;
      if (node == cluster_.self()) {
        piece.next = fabric.own_region(region).data() + piece.begin * each;
        continue;
      }
      piece.room.resize(piece.count * each);
      piece.next = piece.room.data();
      endpoint.Read(node, region, piece.begin * each, piece.room);
    }
    if (const Outcome outcome = endpoint.Flush(); outcome != Outcome::kOk) {
      return EnvironmentError("reading {}: {}", path_, OutcomeName(outcome));
    }
  }
  std::byte* to = into.data();
  for_each_list([&](Piece& piece, EdgeOffset count) {
    to = std::copy_n(piece.next, count * each, to);
    piece.next += count * each;
  });
  return {};
}

Status Snapshot::Export(ListWriter& writer) const {
  std::vector<VertexId> lists;
  std::vector<std::byte> weights;
  const std::size_t each = WeightBytes(weight_type());
  writer.CarryWeights(weight_type());
  const auto write = [&](Direction direction) -> Status {
    const std::vector<EdgeOffset>& offsets = lists_of(direction).offsets;
    for (VertexId first = 0; first < vertices();) {
      VertexId end = first + 1;
      while (end < vertices() && offsets[std::size_t{end} + 1] - offsets[first] <= kPieceArcs)
        ++end;
      lists.resize(offsets[end] - offsets[first]);
      SLIM_TRY(ReadElements(neighbours(direction), offsets[first], std::span(lists)));
      weights.resize(lists.size() * each);
      if (each > 0) SLIM_TRY(Read(this->weights(direction), offsets[first] * each, weights));
      for (; first < end; ++first) {
        const auto length = offsets[std::size_t{first} + 1] - offsets[first];
        const EdgeOffset left = offsets[end] - offsets[first];
        SLIM_TRY(writer.Append(std::span(lists).last(left).first(length),
                               Bytes(weights).last(left * each).first(length * each)));
      }
    }
    return {};
  };
  SLIM_TRY(write(Direction::kOut));
  if (directed()) {
    SLIM_TRY(writer.BeginIncoming());
    SLIM_TRY(write(Direction::kIn));
  }
  SLIM_TRY(writer.Finish(ids_));
  return {};
}

}  // namespace slimgraph::txn
