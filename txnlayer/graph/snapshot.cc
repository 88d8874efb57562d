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

// The ids of a snapshot's vertices, by that of the base; as there where no vertex has come or gone.
class NewIds {
 public:
  NewIds(const SnapshotVertices& vertices, const BaseGraph& base) {
    if (vertices.same()) return;
    ids_.resize(base.vertices());
    VertexId next = 0;
    vertices.ForEach([&](VertexName, NodeId, std::optional<VertexId> dense) {
      if (dense) ids_[*dense] = next;
      ++next;
    });
  }
  VertexId* Copy(std::span<const VertexId> list, VertexId* into) const {
    if (ids_.empty()) return std::copy(list.begin(), list.end(), into);
    return std::transform(list.begin(), list.end(), into,
                          [&](VertexId dense) { return ids_[dense]; });
  }

 private:
  std::vector<VertexId> ids_;
};

// The list of one vertex: of the base what no change speaks of, and what the changes have made.
// Both are in the order of names, which is that of ids. Null: an edge leads to no vertex.
VertexId* MergeList(const BaseGraph& base, const OriginalIds& ids, const NewIds& new_ids,
                    std::span<const VertexId> list, std::span<const EdgeChange> changes,
                    VertexId* into) {
  auto from = list.begin();
  for (const EdgeChange& change : changes) {
    const VertexName name = change.neighbour();
    const auto found = std::lower_bound(from, list.end(), name, [&](VertexId dense, VertexName n) {
      return base.NameOf(dense) < n;
    });
    into = new_ids.Copy({from, found}, into);
    from = found;
    if (from != list.end() && base.NameOf(*from) == name) ++from;
    if (!change.alive()) continue;
    const auto id = ids.Find(name);
    if (!id) return nullptr;
    *into++ = *id;
  }
  return new_ids.Copy({from, list.end()}, into);
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
  ids_ = vertices.Ids();
  SLIM_TRY(MergeLists(graph, holders, vertices, brought.edges));
  return cluster_.all().Barrier();  // all lists are there
}

// Those of this node, in the order of their vertices.
Status Snapshot::MergeLists(TransactionalGraph& graph, const PartitionHolders& holders,
                            const SnapshotVertices& vertices, std::span<const EdgeChange> changes) {
  const BaseGraph& base = graph.base();
  std::vector<std::span<const VertexId>> base_lists(holders.holder.size());  // by partition
  std::uint64_t most_arcs = 1 + changes.size();
  for (const auto& [partition, rank] : holders.mine) {
    if (base.vertices() == 0) break;
    const Bytes bytes = graph.engine().cluster().fabric().own_region(base.regions(rank).lists);
    base_lists[partition] = {reinterpret_cast<const VertexId*>(bytes.data()),
                             bytes.size() / sizeof(VertexId)};
    most_arcs += base.arcs_of(partition);
  }
  SLIM_ASSIGN(const SharedRegion region, room_.ForLists(most_arcs * sizeof(VertexId)));
  lists_ = region.id;
  auto* into = reinterpret_cast<VertexId*>(region.memory.data());
  const NewIds new_ids(vertices, base);
  std::vector<std::uint32_t> lengths;
  // Mostly there are none, and need not be looked for.
  const bool may_have_loops =
      base.arcs() != 2 * base.edges() ||
      std::any_of(changes.begin(), changes.end(), [](const EdgeChange& change) {
        return change.alive() && change.vertex() == change.neighbour();
      });
  std::uint64_t loops = 0;
  std::vector<BaseGraph::Vertex> places(base_lists.size());  // by partition: the last
  for (NodeId partition = 0; partition < std::min<std::size_t>(places.size(), base.vertices());
       ++partition) {
    places[partition] = base.At(partition);
  }
  VertexId next = 0;
  bool complete = true;
  auto change = changes.begin();
  holders_.reserve(ids_.count());
  vertices.ForEach([&](VertexName name, NodeId holder, std::optional<VertexId> dense) {
    const VertexId id = next++;
    holders_.push_back(static_cast<std::uint8_t>(holder));
    if (holder != cluster_.self() || !complete) return;
    while (change != changes.end() && change->vertex() < name) ++change;
    const auto first = change;
    while (change != changes.end() && change->vertex() == name) ++change;
    std::span<const VertexId> list;
    if (dense) {
      BaseGraph::Vertex& place = places[*dense % places.size()];
      place = base.After(place, *dense);
      list = base_lists[place.partition].subspan(place.begin, place.length);
    }
    VertexId* const end = MergeList(base, ids_, new_ids, list, std::span(first, change), into);
    complete = end != nullptr;
    if (!complete) return;
    lengths.push_back(static_cast<std::uint32_t>(end - into));
    if (may_have_loops && std::binary_search(into, end, id)) ++loops;
    into = end;
  });
  SLIM_CHECK(complete, "an edge leads to a vertex that is not there");
  SLIM_TRY(FindOffsets(lengths));
  SLIM_ASSIGN(loops, cluster_.all().AllSum(loops));
  header_.vertices = ids_.count();
  header_.arcs = offsets_.back();
  header_.edges = (header_.arcs - loops) / 2 + loops;
  header_.flags = loops > 0 ? std::uint32_t{kSlimSelfLoops} : 0;
  header_.checksums_checksum = time_;
  return {};
}

Status Snapshot::FindOffsets(std::span<const std::uint32_t> own_lengths) {
  const NodeId nodes = cluster_.topology().nodes();
  static_assert(kMaxNodes <= 256);
  SLIM_ASSIGN(const auto all, cluster_.all().AllGather(std::as_bytes(own_lengths)));
  std::vector<const std::byte*> next;
  for (const auto& theirs : all) next.push_back(theirs.data());
  std::vector<EdgeOffset> held(nodes);
  offsets_.reserve(std::size_t{ids_.count()} + 1);
  offsets_.push_back(0);
  for (VertexId v = 0; v < ids_.count(); ++v) {
    if (v % kGroup == 0) held_before_.insert(held_before_.end(), held.begin(), held.end());
    const NodeId holder = holders_[v];
    std::uint32_t length;
    std::memcpy(&length, next[holder], sizeof length);
    next[holder] += sizeof length;
    held[holder] += length;
    offsets_.push_back(offsets_.back() + length);
  }
  return {};
}

std::uint64_t Snapshot::section_bytes(SectionKind kind) const {
  if (kind == SectionKind::kOutOffsets) return offsets_.size() * sizeof(EdgeOffset);
  if (kind == SectionKind::kOutNeighbours) return arcs() * sizeof(VertexId);
  return 0;
}

Status Snapshot::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                      std::size_t) const {
  SLIM_CHECK(first_byte + into.size() <= section_bytes(kind), "beyond the end of a snapshot");
  if (into.empty()) return {};
  if (kind == SectionKind::kOutOffsets) {
    const Bytes all = std::as_bytes(std::span(offsets_));
    std::memcpy(into.data(), all.data() + first_byte, into.size());
    return {};
  }
  SLIM_CHECK(first_byte % sizeof(VertexId) == 0 && into.size() % sizeof(VertexId) == 0);
  const std::span lists(reinterpret_cast<VertexId*>(into.data()), into.size() / sizeof(VertexId));
  const EdgeOffset first = first_byte / sizeof(VertexId);
  for (EdgeOffset at = 0; at < lists.size(); at += kPieceArcs) {
    SLIM_TRY(ReadLists(first + at, lists.subspan(at, std::min(kPieceArcs, lists.size() - at))));
  }
  return {};
}

// What the lists of one node have of a range of arcs lies in one piece.
Status Snapshot::ReadLists(EdgeOffset first, std::span<VertexId> into) const {
  const EdgeOffset end = first + into.size();
  const auto begin_vertex = static_cast<VertexId>(
      std::upper_bound(offsets_.begin(), offsets_.end(), first) - offsets_.begin() - 1);
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
    pieces[node].begin = held_before_[std::size_t{group} * nodes + node];
  }
  for (VertexId v = group * kGroup; v < begin_vertex; ++v) {
    pieces[holders_[v]].begin += offsets_[std::size_t{v} + 1] - offsets_[v];
  }
  pieces[holders_[begin_vertex]].begin += first - offsets_[begin_vertex];
  const auto for_each_list = [&](auto visit) {
    for (std::size_t v = begin_vertex; v < vertices() && offsets_[v] < end; ++v) {
      visit(pieces[holders_[v]], std::min(end, offsets_[v + 1]) - std::max(first, offsets_[v]));
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
            reinterpret_cast<const VertexId*>(fabric.own_region(lists_).data()) + piece.begin;
        continue;
      }
      piece.room.resize(piece.count);
      piece.next = piece.room.data();
      endpoint.Read(node, lists_, piece.begin * sizeof(VertexId),
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
  for (VertexId first = 0; first < vertices();) {
    VertexId end = first + 1;
    while (end < vertices() && offsets_[std::size_t{end} + 1] - offsets_[first] <= kPieceArcs)
      ++end;
    lists.resize(offsets_[end] - offsets_[first]);
    SLIM_TRY(ReadElements(SectionKind::kOutNeighbours, offsets_[first], std::span(lists)));
    for (; first < end; ++first) {
      const auto length = offsets_[std::size_t{first} + 1] - offsets_[first];
      SLIM_TRY(writer.Append(std::span(lists).last(offsets_[end] - offsets_[first]).first(length)));
    }
  }
  SLIM_TRY(writer.Finish(ids_));
  return {};
}

}  // namespace slimgraph::txn
