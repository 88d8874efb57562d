// Whole lists: neighbours, degrees, and a vertex with all its edges.
#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {
namespace {

// The entries that count, of neighbours in ascending order.
void SortByNeighbour(std::vector<const EdgeEntry*>& entries) {
  std::sort(entries.begin(), entries.end(), [](const EdgeEntry* one, const EdgeEntry* other) {
    return one->neighbour < other->neighbour;
  });
}

bool Within(GraphTime time, const NeighbourQuery& query) {
  return time >= query.from && time <= query.to;
}

// An edge of which more is known than its ends.
using Timed = TimedEdges::Edge;

// The newest first, and of those of one commit the smaller neighbour.
bool Newer(const Timed& one, const Timed& other) {
  if (one.edge.time != other.edge.time) return one.edge.time > other.edge.time;
  return one.edge.neighbour < other.edge.neighbour;
}

const std::byte* PropertiesOf(const EdgeEntry& entry) {
  return reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
}

// What a query wants, as much as it wants of it.
class ListBuilder {
 public:
  ListBuilder(const BaseGraph& base, const BaseEdges& edges, const NeighbourQuery& query,
              NeighbourList& list)
      : base_(base), edges_(edges), query_(query), list_(list) {}

  void Add(const StoredEdge& edge, const std::byte* properties) {
    if (list_.size() == query_.limit || !Within(edge.time, query_)) return;
    list_.Add(edge, query_.properties ? properties : nullptr);
  }
  // Of the base, without marks.
  void AddRun(std::size_t first, std::size_t count) {
    count = std::min<std::size_t>(count, query_.limit - list_.size());
    if (count == 0 || !Within(0, query_)) return;
    list_.AddRun(edges_.ids.data() + first, count);
  }
  Timed EdgeOf(const KnownEdge& known) const {
    return {{base_.NameOf(edges_.ids[known.place]), known.time()}, known.properties()};
  }

 private:
  const BaseGraph& base_;
  const BaseEdges& edges_;
  const NeighbourQuery& query_;
  NeighbourList& list_;
};

// The vertex of that name, or the next one.
VertexId LowerBound(const OriginalIds& ids, VertexName name) {
  if (!ids.contiguous()) {
    const auto at = std::lower_bound(ids.list().begin(), ids.list().end(), name);
    return static_cast<VertexId>(at - ids.list().begin());
  }
  const VertexName past = name - std::min(name, ids.first());
  return static_cast<VertexId>(std::min<VertexName>(past, ids.count()));
}

// Both in the order of neighbours: what the base has and no entry speaks of, run(first, count), and
// the entries, entry(one).
template <typename Run, typename Entry>
void ForEachInOrder(const BaseGraph& base, std::span<const VertexId> ids,
                    std::span<const EdgeEntry* const> latest, Run run, Entry entry) {
  std::size_t at = 0;
  for (const EdgeEntry* const next : latest) {
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::lower_bound(from, ids.end(), LowerBound(base.ids(), next->neighbour));
    const auto end = static_cast<std::size_t>(found - ids.begin());
    if (end > at) run(at, end - at);
    at = end;
    if (at < ids.size() && base.NameOf(ids[at]) == next->neighbour) ++at;
    entry(*next);
  }
  if (at < ids.size()) run(at, ids.size() - at);
}

// The same, with edges of the base of which more is known on their own: known(one).
template <typename Run, typename Known, typename Entry>
void ForEachInOrder(const BaseGraph& base, const BaseEdges& edges,
                    std::span<const EdgeEntry* const> latest, Run run, Known known, Entry entry) {
  auto next = edges.known.begin();
  const auto split = [&](std::size_t first, std::size_t count) {
    std::size_t at = first;
    for (; next != edges.known.end() && next->place < first + count; ++next) {
      if (next->place < first) continue;  // an entry speaks of it
      if (next->place > at) run(at, next->place - at);
      known(*next);
      at = next->place + 1;
    }
    if (at < first + count) run(at, first + count - at);
  };
  ForEachInOrder(base, edges.ids, latest, split, entry);
}

// Edges of which it is not known when they were written are older than all others. Of `latest`,
// only what hides edges of the base has a place among these.
void NewestFirst(const BaseGraph& base, const BaseEdges& edges,
                 std::vector<const EdgeEntry*>& latest, TimedEdges& room, ListBuilder& builder) {
  auto& timed = room.edges;
  auto& runs = room.runs;
  timed.clear();
  runs.clear();
  for (const EdgeEntry* const one : latest) {
    if (one->alive != 0) timed.push_back({{one->neighbour, one->time}, PropertiesOf(*one)});
  }
  std::erase_if(latest, [](const EdgeEntry* one) { return one->in_base == 0; });
  SortByNeighbour(latest);
  ForEachInOrder(
      base, edges, latest,
      [&](std::size_t first, std::size_t count) { runs.emplace_back(first, count); },
      [&](const KnownEdge& known) { timed.push_back(builder.EdgeOf(known)); },
      [](const EdgeEntry&) {});
  std::sort(timed.begin(), timed.end(), Newer);
  for (const Timed& one : timed) builder.Add(one.edge, one.properties);
  for (const auto& [first, count] : runs) builder.AddRun(first, count);
}

void InOrder(const BaseGraph& base, const BaseEdges& edges, std::vector<const EdgeEntry*>& latest,
             ListBuilder& builder) {
  SortByNeighbour(latest);
  ForEachInOrder(
      base, edges, latest,
      [&](std::size_t first, std::size_t count) { builder.AddRun(first, count); },
      [&](const KnownEdge& known) {
        const Timed one = builder.EdgeOf(known);
        builder.Add(one.edge, one.properties);
      },
      [&](const EdgeEntry& one) {
        if (one.alive != 0) builder.Add({one.neighbour, one.time}, PropertiesOf(one));
      });
}

}  // namespace

Answer GraphTransaction::Degree(VertexName vertex, std::uint64_t& degree, Direction direction) {
  const VertexPlace place(graph_.base(), SideOf(vertex, direction));
  bool alive = false;
  if (!AllBlocks(place, false, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  auto sum = static_cast<std::int64_t>(place.base_length());
  for (const Access* const access : all_blocks_) {
    if (access->exists()) sum += BlockOf(*access).degree_change();
  }
  degree = static_cast<std::uint64_t>(sum);
  return Answer::kYes;
}

// Of each neighbour of which blocks tell, what they say last, into `latest_`. False: aborted.
bool GraphTransaction::LatestEntries(const VertexPlace& vertex, bool& alive) {
  latest_.clear();
  if (!AllBlocks(vertex, false, alive)) return false;
  for (const Access* const access : all_blocks_) {
    if (!access->exists()) continue;
    const EdgeBlock block = BlockOf(*access);
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (block.Find(entry.neighbour) == &entry) latest_.push_back(&entry);
    }
  }
  return true;
}

Answer GraphTransaction::Neighbours(VertexName vertex, const NeighbourQuery& query,
                                    NeighbourList& list) {
  const BaseGraph& base = graph_.base();
  list.Begin(base.ids(), graph_.shape());
  const VertexPlace place(base, SideOf(vertex, query.direction));
  bool alive = false;
  if (!LatestEntries(place, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  BaseEdges edges;
  const bool asks_base = place.base && (base.has_marks() || Within(0, query));
  if (asks_base && !base_.List(*place.base, edges)) {
    LostNode();
    return Answer::kAborted;
  }
  ListBuilder builder(base, edges, query, list);
  if (query.newest_first) {
    NewestFirst(base, edges, latest_, timed_, builder);
  } else {
    InOrder(base, edges, latest_, builder);
  }
  return Answer::kYes;
}

// Deletes edges on this side of them, in the order of the tree, in which those that follow each
// other mostly belong to one block.
bool GraphTransaction::PutOwn(const VertexPlace& vertex, std::span<EdgeInBase> edges) {
  std::sort(edges.begin(), edges.end(), [](const EdgeInBase& one, const EdgeInBase& other) {
    return Mix(one.first) < Mix(other.first);
  });
  Side side;
  side.vertex = vertex;
  for (const auto& [neighbour, in_base] : edges) {
    side.neighbour = neighbour;
    const bool same = side.access != nullptr &&
                      txn::BlockOf(neighbour, side.depth) == BlockOfKey(side.access->key);
    if (!same && !(FindSides({&side, 1}, true) && OwnSides({&side, 1}))) return false;
    if (!side.open) return Inconsistent();
    if (!Put(side, false, in_base, {})) return false;
  }
  return true;
}

Answer GraphTransaction::DeleteVertex(VertexName vertex) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  for (const Direction direction : DirectionsOf(graph_.shape())) {
    if (!DeleteWithEdges(SideOf(vertex, direction))) return Answer::kAborted;
  }
  PutVertex(*access, false, {});
  Note({UpdateKind::kDeleteVertex, vertex, 0, {}});
  --vertex_change_;
  return Answer::kYes;
}

bool GraphTransaction::DeleteWithEdges(VertexName vertex) {
  const VertexPlace place(graph_.base(), vertex);
  bool open = false;
  if (!LatestEntries(place, open)) return false;
  if (!open) return Inconsistent();
  std::span<const VertexId> ids;
  if (place.base && !base_.List(*place.base, ids)) return LostNode();
  // Its edges, with whether the base has them: nothing more has to be known of either side.
  std::vector<EdgeInBase>& edges = deleting_;
  edges.clear();
  SortByNeighbour(latest_);
  ForEachInOrder(
      graph_.base(), ids, latest_,
      [&](std::size_t first, std::size_t count) {
        for (const VertexId id : ids.subspan(first, count)) {
          edges.emplace_back(graph_.base().NameOf(id), true);
        }
      },
      [&](const EdgeEntry& one) {
        if (one.alive != 0) edges.emplace_back(one.neighbour, one.in_base != 0);
      });
  // The neighbours' sides of all edges at once, then its own.
  std::vector<Side>& sides = deleting_sides_;
  sides.clear();
  for (const auto& [neighbour, in_base] : edges) {
    Side& side = sides.emplace_back();
    side.vertex = VertexPlace(graph_.base(), neighbour);
    side.neighbour = vertex;
    side.in_base = in_base;
  }
  if (!FindSides(sides, true) || !OwnSides(sides) || !Own(all_blocks_)) return false;
  for (Side& side : sides) {
    if (!side.open) return Inconsistent();
    if (!Put(side, false, side.in_base, {})) return false;
  }
  std::erase_if(edges, [vertex](const auto& edge) { return edge.first == vertex; });
  if (!PutOwn(place, edges) || !SetBlocks(place, BlockKind::kDead)) return false;
  edge_change_ -= static_cast<std::int64_t>(sides.size());
  return true;
}

}  // namespace slimgraph::txn
