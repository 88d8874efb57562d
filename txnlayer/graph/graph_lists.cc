// Whole lists: neighbours, degrees, and a vertex with all its edges.
#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {
namespace {

bool Within(GraphTime time, const NeighbourQuery& query) {
  return time >= query.from && time <= query.to;
}

// The entries that count, of neighbours in ascending order.
void SortByNeighbour(std::vector<const EdgeEntry*>& entries) {
  std::sort(entries.begin(), entries.end(), [](const EdgeEntry* one, const EdgeEntry* other) {
    return one->neighbour < other->neighbour;
  });
}

bool Newer(GraphTime time, VertexName neighbour, GraphTime other_time, VertexName other) {
  return time != other_time ? time > other_time : neighbour < other;
}

// The newest first, and of those of one commit the smaller neighbour.
void SortByTime(std::vector<const EdgeEntry*>& entries) {
  std::sort(entries.begin(), entries.end(), [](const EdgeEntry* one, const EdgeEntry* other) {
    return Newer(one->time, one->neighbour, other->time, other->neighbour);
  });
}

void SortByTime(NeighbourList& list, std::uint32_t edge_bytes) {
  std::vector<std::uint32_t> order(list.edges.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    const StoredEdge& a = list.edges[one];
    const StoredEdge& b = list.edges[other];
    return Newer(a.time, a.neighbour, b.time, b.neighbour);
  });
  NeighbourList sorted;
  for (const std::uint32_t i : order) {
    sorted.edges.push_back(list.edges[i]);
    const auto from = list.properties.begin() + std::ptrdiff_t{i} * edge_bytes;
    sorted.properties.insert(sorted.properties.end(), from, from + edge_bytes);
  }
  list = std::move(sorted);
}

void AddEntry(const EdgeEntry& entry, const NeighbourQuery& query, std::uint32_t bytes,
              NeighbourList& list) {
  if (entry.alive == 0 || !Within(entry.time, query)) return;
  list.edges.push_back({entry.neighbour, entry.time});
  const auto* const from = reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
  list.properties.insert(list.properties.end(), from, from + bytes);
}

// A part of a list of the base; no times and no properties are all zeros.
struct BaseEdges {
  std::span<const VertexId> ids;
  std::span<const GraphTime> times;
  Bytes properties;
};

void AddFromBase(const BaseGraph& base, const BaseEdges& edges, const NeighbourQuery& query,
                 std::uint32_t bytes, NeighbourList& list) {
  const auto add_properties = [&](std::size_t first, std::size_t count) {
    const std::size_t at = list.properties.size();
    list.properties.resize(at + count * bytes);
    if (edges.properties.empty() || bytes == 0) return;
    std::memcpy(list.properties.data() + at, edges.properties.data() + first * bytes,
                count * bytes);
  };
  if (edges.times.empty()) {
    for (const VertexId id : edges.ids) list.edges.push_back({base.NameOf(id), 0});
    return add_properties(0, edges.ids.size());
  }
  for (std::size_t i = 0; i < edges.ids.size(); ++i) {
    if (!Within(edges.times[i], query)) continue;
    list.edges.push_back({base.NameOf(edges.ids[i]), edges.times[i]});
    add_properties(i, 1);
  }
}

}  // namespace

Answer GraphTransaction::Degree(VertexName vertex, std::uint64_t& degree) {
  const VertexPlace place(graph_.base(), vertex);
  std::vector<Side> blocks;
  bool alive = false;
  if (!AllBlocks(place, false, blocks, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  auto sum = static_cast<std::int64_t>(place.base_length());
  for (const Side& side : blocks) {
    if (side.access->exists()) sum += BlockOf(*side.access).degree_change();
  }
  degree = static_cast<std::uint64_t>(sum);
  return Answer::kYes;
}

Answer GraphTransaction::Neighbours(VertexName vertex, const NeighbourQuery& query,
                                    NeighbourList& list) {
  list.edges.clear();
  list.properties.clear();
  const VertexPlace place(graph_.base(), vertex);
  std::vector<Side> blocks;
  bool alive = false;
  if (!AllBlocks(place, false, blocks, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  std::vector<const EdgeEntry*> latest;
  for (const Side& side : blocks) {
    if (!side.access->exists()) continue;
    const EdgeBlock block = BlockOf(*side.access);
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (block.Find(entry.neighbour) == &entry) latest.push_back(&entry);
    }
  }
  SortByNeighbour(latest);
  // Where the base's edges have no times, all of them are older than all others.
  const bool base_comes_last = query.newest_first && !graph_.base().has_edge_times();
  const std::uint32_t bytes = query.properties ? graph_.shape().edge_bytes : 0;
  if (base_comes_last) {
    std::vector<const EdgeEntry*> newest = latest;
    SortByTime(newest);
    for (const EdgeEntry* const entry : newest) AddEntry(*entry, query, bytes, list);
  }
  if (list.edges.size() < query.limit || !base_comes_last) {
    if (!AddInOrder(place, query, latest, !base_comes_last, list)) return Answer::kAborted;
  }
  if (query.newest_first && !base_comes_last) SortByTime(list, bytes);
  if (list.edges.size() > query.limit) {
    list.edges.resize(query.limit);
    list.properties.resize(query.limit * bytes);
  }
  return Answer::kYes;
}

// Both in the order of neighbours: what the base has and no entry speaks of, and the entries if
// they are wanted.
bool GraphTransaction::AddInOrder(const VertexPlace& vertex, const NeighbourQuery& query,
                                  std::span<const EdgeEntry* const> latest, bool with_entries,
                                  NeighbourList& list) {
  const BaseGraph& base = graph_.base();
  const std::uint32_t bytes = query.properties ? graph_.shape().edge_bytes : 0;
  std::span<const VertexId> ids;
  std::span<const GraphTime> times;
  Bytes properties;
  if (vertex.base && (base.has_edge_times() || Within(0, query))) {
    if (!base_.List(*vertex.base, ids) || !base_.EdgeTimes(*vertex.base, 0, ids.size(), times) ||
        (bytes > 0 && !base_.EdgeProperties(*vertex.base, 0, ids.size(), properties))) {
      return LostNode();
    }
  }
  const bool stops = !query.newest_first || !with_entries;  // the first ones are those wanted
  std::size_t next = 0;
  const auto take_entry = [&] {
    const EdgeEntry& entry = *latest[next++];
    if (with_entries) AddEntry(entry, query, bytes, list);
  };
  const auto comes_before = [&](VertexId id, VertexName name) { return base.NameOf(id) < name; };
  for (std::size_t i = 0; i < ids.size();) {
    if (stops && list.edges.size() >= query.limit) return true;
    // Up to the next neighbour of which an entry speaks, it is the base alone.
    std::size_t end = ids.size();
    if (next < latest.size()) {
      const auto from = ids.begin() + static_cast<std::ptrdiff_t>(i);
      const auto at = std::lower_bound(from, ids.end(), latest[next]->neighbour, comes_before);
      end = static_cast<std::size_t>(at - ids.begin());
    }
    std::size_t count = end - i;
    if (stops) count = std::min<std::size_t>(count, query.limit - list.edges.size());
    AddFromBase(base,
                {ids.subspan(i, count), times.empty() ? times : times.subspan(i, count),
                 properties.empty() ? properties : properties.subspan(i * bytes, count * bytes)},
                query, bytes, list);
    i += count;
    if (i < end || i == ids.size()) continue;
    if (latest[next]->neighbour == base.NameOf(ids[i])) ++i;
    take_entry();
  }
  while (next < latest.size()) take_entry();
  return true;
}

Answer GraphTransaction::DeleteVertex(VertexName vertex) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  NeighbourList list;
  const Answer answer = Neighbours(vertex, {}, list);
  if (answer == Answer::kAborted) return Answer::kAborted;
  if (answer == Answer::kNo) return Inconsistent(), Answer::kAborted;
  // Both sides of all edges at once: those of the neighbours, then its own.
  std::vector<Side> sides;
  const VertexPlace place(graph_.base(), vertex);
  for (const StoredEdge& edge : list.edges) {
    Side& side = sides.emplace_back();
    side.vertex = VertexPlace(graph_.base(), edge.neighbour);
    side.neighbour = vertex;
  }
  for (const StoredEdge& edge : list.edges) {
    if (edge.neighbour == vertex) continue;
    Side& side = sides.emplace_back();
    side.vertex = place;
    side.neighbour = edge.neighbour;
  }
  if (!FindSides(sides, true) || !OwnSides(sides)) return Answer::kAborted;
  for (Side& side : sides) {
    if (!side.open) return Inconsistent(), Answer::kAborted;
    EdgeNow now;
    // Blocks of one vertex may have been split since they were found.
    if (BlockOf(*side.access).kind() == BlockKind::kSplit && side.access->exists()) {
      if (!FindSides({&side, 1}, true) || !OwnSides({&side, 1})) return Answer::kAborted;
    }
    if (!LookUp(side, now) || !Put(side, false, now.in_base, {})) return Answer::kAborted;
  }
  if (!SetBlocks(place, BlockKind::kDead)) return Answer::kAborted;
  PutVertex(*access, false, {});
  Note({UpdateKind::kDeleteVertex, vertex, 0, {}});
  --vertex_change_;
  edge_change_ -= static_cast<std::int64_t>(list.edges.size());
  return Answer::kYes;
}

}  // namespace slimgraph::txn
