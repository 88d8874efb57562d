// Operations on whole lists: neighbours, degrees, and deletion of a vertex with all its edges.
#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"
#include "txnlayer/graph_model/merge_changes.h"

namespace slimgraph::txn {
namespace {

// Sorts by the name of the neighbour.
void SortByNeighbour(std::vector<const EdgeEntry*>& entries) {
  std::sort(entries.begin(), entries.end(), [](const EdgeEntry* one, const EdgeEntry* other) {
    return one->neighbour < other->neighbour;
  });
}

bool Within(GraphTime time, const NeighbourQuery& query) {
  return time >= query.from && time <= query.to;
}

// An edge with a known time or properties.
using Timed = TimedEdges::Edge;

// Newest first. Edges of one commit are ordered by neighbour.
bool Newer(const Timed& one, const Timed& other) {
  if (one.edge.time != other.edge.time) return one.edge.time > other.edge.time;
  return one.edge.neighbour < other.edge.neighbour;
}

const std::byte* PropertiesOf(const EdgeEntry& entry) {
  return reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
}

// Adds the edges that match a query to its result, up to the query's limit.
class ListBuilder {
 public:
  ListBuilder(const BaseGraph& base, const BaseEdges& edges, const NeighbourQuery& query,
              NeighbourList& list)
      : base_(base), edges_(edges), query_(query), list_(list) {}

  void Add(const StoredEdge& edge, const std::byte* properties) {
    if (list_.size() == query_.limit || !Within(edge.time, query_)) return;
    list_.Add(edge, query_.properties ? properties : nullptr);
  }
  // Edges of the base without marks.
  void AddRun(std::size_t first, std::size_t count) {
    count = std::min<std::size_t>(count, query_.limit - list_.size());
    if (count == 0 || !Within(0, query_)) return;
    list_.AddRun(edges_.ids.data() + first, count);
  }
  Timed EdgeOf(const MarkedEdge& marked) const {
    return {{base_.NameOf(edges_.ids[marked.position]), marked.time()}, marked.properties()};
  }

 private:
  const BaseGraph& base_;
  const BaseEdges& edges_;
  const NeighbourQuery& query_;
  NeighbourList& list_;
};

VertexName NeighbourOfEntry(const EdgeEntry* entry) { return entry->neighbour; }

// MergeChanges with a separate call for marked edges of the base: marked(edge). The other edges of
// the base come as run(first, count), and entries of blocks as entry(entry).
template <typename Run, typename Marked, typename Entry>
void MergeEntries(const BaseGraph& base, const BaseEdges& edges,
                  std::span<const EdgeEntry* const> latest, Run run, Marked marked, Entry entry) {
  auto next = edges.marked.begin();
  const auto split = [&](std::size_t first, std::size_t count) {
    std::size_t at = first;
    for (; next != edges.marked.end() && next->position < first + count; ++next) {
      if (next->position < first) continue;  // an entry hides it
      if (next->position > at) run(at, next->position - at);
      marked(*next);
      at = next->position + 1;
    }
    if (at < first + count) run(at, first + count - at);
  };
  MergeChanges(base.ids(), edges.ids, latest, NeighbourOfEntry, split, entry);
}

// Edges without a known time count as older than all others. Removes from `latest` the entries that
// do not hide an edge of the base.
void AddNewestFirst(const BaseGraph& base, const BaseEdges& edges,
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
  MergeEntries(
      base, edges, latest,
      [&](std::size_t first, std::size_t count) { runs.emplace_back(first, count); },
      [&](const MarkedEdge& marked) { timed.push_back(builder.EdgeOf(marked)); },
      [](const EdgeEntry*) {});
  std::sort(timed.begin(), timed.end(), Newer);
  for (const Timed& one : timed) builder.Add(one.edge, one.properties);
  for (const auto& [first, count] : runs) builder.AddRun(first, count);
}

void AddByName(const BaseGraph& base, const BaseEdges& edges, std::vector<const EdgeEntry*>& latest,
               ListBuilder& builder) {
  SortByNeighbour(latest);
  MergeEntries(
      base, edges, latest,
      [&](std::size_t first, std::size_t count) { builder.AddRun(first, count); },
      [&](const MarkedEdge& marked) {
        const Timed one = builder.EdgeOf(marked);
        builder.Add(one.edge, one.properties);
      },
      [&](const EdgeEntry* one) {
        if (one->alive != 0) builder.Add({one->neighbour, one->time}, PropertiesOf(*one));
      });
}

}  // namespace

Answer GraphTransaction::Degree(VertexName vertex, std::uint64_t& degree, Direction direction) {
  if (!CheckName(vertex)) return Answer::kAborted;
  const BlockTree tree(graph_.base(), SideOf(vertex, direction));
  bool alive = false;
  if (!AllBlocks(tree, false, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  auto sum = static_cast<std::int64_t>(tree.base_length());
  for (const Access* const access : all_blocks_) {
    if (access->exists()) sum += BlockOf(*access).degree_change();
  }
  degree = static_cast<std::uint64_t>(sum);
  return Answer::kYes;
}

// Collects the last entry of every neighbour in the blocks of `vertex` into `latest_`. False:
// aborted.
bool GraphTransaction::LatestEntries(const BlockTree& vertex, bool& alive) {
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
  if (!CheckName(vertex)) return Answer::kAborted;
  const BaseGraph& base = graph_.base();
  list.Begin(base.ids(), graph_.shape());
  const BlockTree tree(base, SideOf(vertex, query.direction));
  bool alive = false;
  if (!LatestEntries(tree, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  BaseEdges edges;
  const bool asks_base = tree.base && (base.has_marks() || Within(0, query));
  if (asks_base && !base_.ReadList(*tree.base, edges)) {
    AbortNodeLost();
    return Answer::kAborted;
  }
  ListBuilder builder(base, edges, query, list);
  if (query.newest_first) {
    AddNewestFirst(base, edges, latest_, timed_, builder);
  } else {
    AddByName(base, edges, latest_, builder);
  }
  return Answer::kYes;
}

// Deletes edges in the blocks of `vertex` alone. Sorts them by hash, so that consecutive edges
// mostly belong to one block.
bool GraphTransaction::DeleteOnOwnSide(const BlockTree& vertex, std::span<EdgeInBase> edges) {
  std::sort(edges.begin(), edges.end(), [](const EdgeInBase& one, const EdgeInBase& other) {
    return Mix(one.first) < Mix(other.first);
  });
  Side side;
  side.vertex = vertex;
  for (const auto& [neighbour, in_base] : edges) {
    side.neighbour = neighbour;
    const bool same = side.access != nullptr &&
                      txn::BlockOf(neighbour, side.depth) == BlockOfKey(side.access->key);
    if (!same && !(FindSides({&side, 1}, true) && AcquireSides({&side, 1}))) return false;
    if (!side.open) return AbortInconsistent();
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
  if (!PutVertex(*access, false, {})) return Answer::kAborted;
  AppendToJournal({UpdateKind::kDeleteVertex, vertex, 0, {}});
  --vertex_change_;
  return Answer::kYes;
}

bool GraphTransaction::DeleteWithEdges(VertexName vertex) {
  const BlockTree tree(graph_.base(), vertex);
  bool open = false;
  if (!LatestEntries(tree, open)) return false;
  if (!open) return AbortInconsistent();
  std::span<const VertexId> ids;
  if (tree.base && !base_.ReadList(*tree.base, ids)) return AbortNodeLost();
  // All its edges, and for each whether the base has it.
  std::vector<EdgeInBase>& edges = edges_to_delete_;
  edges.clear();
  SortByNeighbour(latest_);
  MergeChanges(
      graph_.base().ids(), ids, latest_, NeighbourOfEntry,
      [&](std::size_t first, std::size_t count) {
        for (const VertexId id : ids.subspan(first, count)) {
          edges.emplace_back(graph_.base().NameOf(id), true);
        }
      },
      [&](const EdgeEntry* one) {
        if (one->alive != 0) edges.emplace_back(one->neighbour, one->in_base != 0);
      });
  // Writes the neighbours' sides of all edges first, then those of the vertex.
  std::vector<Side>& sides = sides_to_delete_;
  sides.clear();
  for (const auto& [neighbour, in_base] : edges) {
    Side& side = sides.emplace_back();
    side.vertex = BlockTree(graph_.base(), neighbour);
    side.neighbour = vertex;
    side.in_base = in_base;
  }
  if (!FindSides(sides, true) || !AcquireSides(sides) || !AcquireBlocks(all_blocks_)) return false;
  for (Side& side : sides) {
    if (!side.open) return AbortInconsistent();
    if (!Put(side, false, side.in_base, {})) return false;
  }
  std::erase_if(edges, [vertex](const auto& edge) { return edge.first == vertex; });
  if (!DeleteOnOwnSide(tree, edges) || !SetBlocks(tree, BlockKind::kDead)) return false;
  edge_change_ -= static_cast<std::int64_t>(sides.size());
  return true;
}

}  // namespace slimgraph::txn
