#include "txnlayer/graph/snapshot.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "txnlayer/graph/moment.h"

namespace slimgraph::txn {
namespace {

// Vertices between two of which it is known where lists lie.
constexpr VertexId kGroup = 1024;
// As much more than is needed is taken, for the next may be larger.
constexpr std::uint64_t kSpareShare = 16;
// What is read of lists at a time.
constexpr EdgeOffset kPieceArcs = 1 << 20;

// Merges the lists of this node, those of one direction after the other, in the order of their
// vertices.
class ListMerger {
 public:
  ListMerger(TransactionalGraph& graph, const PartitionHolders& holders, NodeId self,
             const SnapshotVertices& vertices, std::span<const EdgeChange> changes)
      : base_(graph.base()),
        shape_(graph.shape()),
        self_(self),
        vertices_(vertices),
        changes_(changes),
        ids_(vertices.Ids()),
        lists_(holders.holder.size()) {
    for (const auto& [partition, rank] : holders.mine) {
      if (base_.vertices() == 0) break;
      const Bytes bytes = graph.engine().cluster().fabric().own_region(base_.regions(rank).lists);
      lists_[partition] = {reinterpret_cast<const VertexId*>(bytes.data()),
                           bytes.size() / sizeof(VertexId)};
      most_arcs_ += base_.arcs_of(partition);
    }
    FindNewIds();
    // Mostly there are none, and need not be looked for.
    may_have_loops_ = shape_.directed || base_.arcs() != 2 * base_.edges() ||
                      std::any_of(changes.begin(), changes.end(), [](const EdgeChange& change) {
                        return change.alive() && change.vertex() == change.neighbour();
                      });
  }

  // What is called so: vertices, or of a directed graph sides.
  const OriginalIds& ids() const { return ids_; }
  std::uint64_t most_arcs() const { return most_arcs_ + changes_.size(); }
  // Of the outgoing lists.
  std::uint64_t loops() const { return loops_; }

  // Returns the end of what was written, with the holders of all lists of the direction, and the
  // lengths of this node's.
  VertexId* Merge(Direction direction, VertexId* into, std::vector<std::uint8_t>& holders,
                  std::vector<std::uint32_t>& lengths) {
    std::vector<BaseGraph::Vertex> places(lists_.size());  // by partition: the last
    for (NodeId partition = 0; partition < std::min<std::size_t>(places.size(), base_.vertices());
         ++partition) {
      places[partition] = base_.At(partition);
    }
    VertexId next = 0;
    auto change = changes_.begin();
    vertices_.ForEach([&](VertexName name, NodeId holder, std::optional<VertexId> dense) {
      const VertexId id = VertexOfSide(shape_, next++);
      if (shape_.directed && DirectionOf(shape_, name) != direction) return;
      holders.push_back(static_cast<std::uint8_t>(holder));
      if (holder != self_) return;
      while (change != changes_.end() && change->vertex() < name) ++change;
      const auto first = change;
      while (change != changes_.end() && change->vertex() == name) ++change;
      std::span<const VertexId> list;
      if (dense) {
        BaseGraph::Vertex& place = places[*dense % places.size()];
        place = base_.After(place, *dense);
        list = lists_[place.partition].subspan(place.begin, place.length);
      }
      VertexId* const end = MergeList(list, std::span(first, change), into);
      lengths.push_back(static_cast<std::uint32_t>(end - into));
      if (may_have_loops_ && direction == Direction::kOut && std::binary_search(into, end, id)) {
        ++loops_;
      }
      into = end;
    });
    return into;
  }

 private:
  // The ids of the snapshot's vertices, by those of the base; none where they are the same.
  void FindNewIds() {
    if (vertices_.same()) return;
    new_ids_.resize(base_.vertices());
    VertexId next = 0;
    vertices_.ForEach([&](VertexName, NodeId, std::optional<VertexId> dense) {
      if (dense) new_ids_[*dense] = VertexOfSide(shape_, next);
      ++next;
    });
  }

  VertexId* Copy(std::span<const VertexId> list, VertexId* into) const {
    if (!new_ids_.empty()) {
      return std::transform(list.begin(), list.end(), into,
                            [&](VertexId dense) { return new_ids_[dense]; });
    }
    if (!shape_.directed) return std::copy(list.begin(), list.end(), into);
    return std::transform(list.begin(), list.end(), into,
                          [&](VertexId dense) { return VertexOfSide(shape_, dense); });
  }

  // The list of one vertex: of the base what no change speaks of, and what the changes have made.
  // Both are in the order of names, which is that of ids.
  VertexId* MergeList(std::span<const VertexId> list, std::span<const EdgeChange> changes,
                      VertexId* into) const {
    auto from = list.begin();
    for (const EdgeChange& change : changes) {
      const VertexName name = change.neighbour();
      const auto found =
          std::lower_bound(from, list.end(), name,
                           [&](VertexId dense, VertexName n) { return base_.NameOf(dense) < n; });
      into = Copy({from, found}, into);
      from = found;
      if (from != list.end() && base_.NameOf(*from) == name) ++from;
      if (!change.alive()) continue;
      const auto id = ids_.Find(name);
      SLIM_CHECK(id, "an edge leads to a vertex that is not there");
      *into++ = VertexOfSide(shape_, *id);
    }
    return Copy({from, list.end()}, into);
  }

  const BaseGraph& base_;
  const GraphShape& shape_;
  const NodeId self_;
  const SnapshotVertices& vertices_;
  const std::span<const EdgeChange> changes_;
  const OriginalIds ids_;
  std::vector<std::span<const VertexId>> lists_;  // of the base, by partition
  std::vector<VertexId> new_ids_;
  std::uint64_t most_arcs_ = 1;
  bool may_have_loops_ = false;
  std::uint64_t loops_ = 0;
};

bool IsOffsets(SectionKind kind) {
  return kind == SectionKind::kOutOffsets || kind == SectionKind::kInOffsets;
}

}  // namespace

// Of those that came before, all nodes have read all when they come to this.
Result<SharedRegion> SnapshotRoom::AtLeast(std::uint64_t bytes,
                                           std::optional<SharedRegion>& region) {
  const bool fits = region && region->memory.size() >= bytes;
  SLIM_ASSIGN(const auto one_does_not, cluster_.all().AllMax<std::uint64_t>(fits ? 0 : 1));
  if (one_does_not == 0) return *region;
  if (region) cluster_.fabric().Clear(region->id);
  SLIM_ASSIGN(region, cluster_.fabric().Share(bytes + bytes / kSpareShare));
  return *region;
}

Result<std::unique_ptr<Snapshot>> Snapshot::Take(SnapshotRoom& room, TransactionalGraph& graph) {
  Cluster& cluster = room.cluster();
  std::unique_ptr<Snapshot> snapshot(new Snapshot(room));
  SLIM_ASSIGN(const GraphTurn turn, GraphTurn::Take(cluster, graph));
  const std::uint64_t start_ns = NowNs();
  PartitionHolders holders;
  const auto pin = [&](GraphTime time) -> Status {
    graph.Pin(time);
    holders = PartitionHolders(cluster, graph.engine().view());
    return {};
  };
  // Where it fails, as when a node dies, nothing is kept for it any more.
  const auto moment = AtMoment(cluster, graph, pin);
  Status done = moment ? Status() : Status(tl::unexpected<Error>(moment.error()));
  if (done) {
    snapshot->time_ = moment->time;
    snapshot->in_run_ = moment->in_run;
    done = snapshot->Gather(graph, holders);
  }
  // Others' transactions change blocks of this node: all are through before any forgets.
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
  EdgeChanges changes =
      FindEdges(graph, holders, time_, false, [](VertexName, VertexName) { return true; });
  SLIM_ASSIGN(VertexChanges changed, FindVertices(cluster_, graph, holders, time_));
  const SnapshotVertices vertices(holders, base, std::move(changed));
  SLIM_ASSIGN(const EdgeChanges brought,
              DealOut(
                  cluster_, std::move(changes), 0,
                  [&](VertexName vertex) { return vertices.HolderOf(vertex); },
                  [&](std::uint64_t bytes) { return room_.ForChanges(bytes); }));
  SLIM_TRY(MergeLists(graph, holders, vertices, brought.edges));
  return cluster_.all().Barrier();  // all lists are there
}

Status Snapshot::MergeLists(TransactionalGraph& graph, const PartitionHolders& holders,
                            const SnapshotVertices& vertices, std::span<const EdgeChange> changes) {
  const GraphShape& shape = graph.shape();
  ListMerger merger(graph, holders, cluster_.self(), vertices, changes);
  ids_ = VertexIds(shape, merger.ids());
  SLIM_ASSIGN(const SharedRegion region, room_.ForLists(merger.most_arcs() * sizeof(VertexId)));
  region_ = region.id;
  auto* into = reinterpret_cast<VertexId*>(region.memory.data());
  std::vector<EdgeOffset> held(cluster_.topology().nodes());
  for (const Direction direction : DirectionsOf(shape)) {
    Lists& lists = lists_[static_cast<std::size_t>(direction)];
    lists.holders.reserve(ids_.count());
    std::vector<std::uint32_t> lengths;
    into = merger.Merge(direction, into, lists.holders, lengths);
    SLIM_TRY(FindOffsets(lengths, held, lists));
  }
  SLIM_ASSIGN(const std::uint64_t loops, cluster_.all().AllSum(merger.loops()));
  header_.vertices = ids_.count();
  header_.arcs = lists_of(Direction::kOut).offsets.back();
  header_.edges = shape.directed ? header_.arcs : (header_.arcs - loops) / 2 + loops;
  header_.flags = (shape.directed ? kSlimDirected : 0U) | (loops > 0 ? kSlimSelfLoops : 0U);
  header_.checksums_checksum = time_;
  return {};
}

// `held`: how many arcs nodes hold of all before these.
Status Snapshot::FindOffsets(std::span<const std::uint32_t> own_lengths,
                             std::vector<EdgeOffset>& held, Lists& lists) const {
  static_assert(kMaxNodes <= 256);
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
  }
  return nullptr;
}

std::uint64_t Snapshot::section_bytes(SectionKind kind) const {
  const Lists* const lists = ListsIn(kind);
  if (lists == nullptr) return 0;
  return IsOffsets(kind) ? lists->offsets.size() * sizeof(EdgeOffset) : arcs() * sizeof(VertexId);
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
  SLIM_CHECK(first_byte % sizeof(VertexId) == 0 && into.size() % sizeof(VertexId) == 0);
  const std::span lists(reinterpret_cast<VertexId*>(into.data()), into.size() / sizeof(VertexId));
  const EdgeOffset first = first_byte / sizeof(VertexId);
  for (EdgeOffset at = 0; at < lists.size(); at += kPieceArcs) {
    SLIM_TRY(
        ReadLists(from, first + at, lists.subspan(at, std::min(kPieceArcs, lists.size() - at))));
  }
  return {};
}

// What the lists of one node have of a range of arcs lies in one piece.
Status Snapshot::ReadLists(const Lists& lists, EdgeOffset first, std::span<VertexId> into) const {
  const auto& [holders, offsets, held_before] = lists;
  const EdgeOffset end = first + into.size();
  const auto begin_vertex = static_cast<VertexId>(
      std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1);
  struct Piece {
    EdgeOffset begin = 0;  // in the node's lists
    EdgeOffset count = 0;
    std::vector<VertexId> room;
    const VertexId* next = nullptr;
  };
  const NodeId nodes = cluster_.topology().nodes();
  std::vector<Piece> pieces(nodes);
  const VertexId group = begin_vertex / kGroup;
  for (NodeId node = 0; node < nodes; ++node) {
    pieces[node].begin = held_before[std::size_t{group} * nodes + node];
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
        piece.next =
            reinterpret_cast<const VertexId*>(fabric.own_region(region_).data()) + piece.begin;
        continue;
      }
      piece.room.resize(piece.count);
      piece.next = piece.room.data();
      endpoint.Read(node, region_, piece.begin * sizeof(VertexId),
                    std::as_writable_bytes(std::span(piece.room)));
    }
    if (const Outcome outcome = endpoint.Flush(); outcome != Outcome::kOk) {
      return EnvironmentError("reading {}: {}", path_, OutcomeName(outcome));
    }
  }
  VertexId* to = into.data();
  for_each_list([&](Piece& piece, EdgeOffset count) {
    to = std::copy_n(piece.next, count, to);
    piece.next += count;
  });
  return {};
}

Status Snapshot::Export(ListWriter& writer) const {
  std::vector<VertexId> lists;
  const auto write = [&](Direction direction) -> Status {
    const std::vector<EdgeOffset>& offsets = lists_of(direction).offsets;
    for (VertexId first = 0; first < vertices();) {
      VertexId end = first + 1;
      while (end < vertices() && offsets[std::size_t{end} + 1] - offsets[first] <= kPieceArcs)
        ++end;
      lists.resize(offsets[end] - offsets[first]);
      SLIM_TRY(ReadElements(neighbours(direction), offsets[first], std::span(lists)));
      for (; first < end; ++first) {
        const auto length = offsets[std::size_t{first} + 1] - offsets[first];
        SLIM_TRY(writer.Append(std::span(lists).last(offsets[end] - offsets[first]).first(length)));
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
