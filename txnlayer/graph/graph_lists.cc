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

// The newest first, and of those of one commit the smaller neighbour.
void SortByTime(NeighbourList& list, std::uint64_t limit, std::uint32_t edge_bytes) {
  std::vector<std::uint32_t> order(list.edges.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto newer = [&](std::uint32_t one, std::uint32_t other) {
    const StoredEdge& a = list.edges[one];
    const StoredEdge& b = list.edges[other];
    return a.time != b.time ? a.time > b.time : a.neighbour < b.neighbour;
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(limit, order.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), newer);
  order.resize(static_cast<std::size_t>(kept));
  NeighbourList sorted;
  for (const std::uint32_t i : order) {
    sorted.edges.push_back(list.edges[i]);
    if (list.properties.empty()) continue;
    const auto from = list.properties.begin() + std::ptrdiff_t{i} * edge_bytes;
    sorted.properties.insert(sorted.properties.end(), from, from + edge_bytes);
  }
  list = std::move(sorted);
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
  const std::uint32_t bytes = query.properties ? graph_.shape().edge_bytes : 0;
  const auto add = [&](const EdgeEntry& entry) {
    if (entry.alive == 0 || !Within(entry.time, query)) return;
    list.edges.push_back({entry.neighbour, entry.time});
    const auto* const from = reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
    list.properties.insert(list.properties.end(), from, from + bytes);
  };
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
  // Where base edges have no times they are older than all others.
  const bool base_is_older = query.newest_first && !graph_.base().has_edge_times();
  const auto in_time = static_cast<std::uint64_t>(std::count_if(
      latest.begin(), latest.end(),
      [&](const EdgeEntry* entry) { return entry->alive != 0 && Within(entry->time, query); }));
  const bool needs_base = place.base_length() > 0 && !(base_is_older && in_time >= query.limit) &&
                          (graph_.base().has_edge_times() || Within(0, query));
  if (needs_base) {
    if (!AddBaseNeighbours(place, query, latest, list)) return Answer::kAborted;
  } else {
    for (const EdgeEntry* const entry : latest) add(*entry);
  }
  if (query.newest_first) {
    SortByTime(list, query.limit, bytes);
  } else if (list.edges.size() > query.limit) {
    list.edges.resize(query.limit);
    list.properties.resize(query.limit * bytes);
  }
  return Answer::kYes;
}

// Both in the order of neighbours: what the base has and no entry speaks of, and the entries.
bool GraphTransaction::AddBaseNeighbours(const VertexPlace& vertex, const NeighbourQuery& query,
                                         std::span<const EdgeEntry* const> latest,
                                         NeighbourList& list) {
  const BaseGraph& base = graph_.base();
  const std::uint32_t bytes = query.properties ? graph_.shape().edge_bytes : 0;
  std::span<const VertexId> ids;
  std::span<const GraphTime> times;
  Bytes properties;
  if (!base_.List(*vertex.base, ids) || !base_.EdgeTimes(*vertex.base, 0, ids.size(), times) ||
      (bytes > 0 && !base_.EdgeProperties(*vertex.base, 0, ids.size(), properties))) {
    return LostNode();
  }
  const auto add = [&](VertexName neighbour, GraphTime time, const std::byte* from) {
    if (!Within(time, query)) return;
    list.edges.push_back({neighbour, time});
    if (from == nullptr) {
      list.properties.resize(list.properties.size() + bytes);
    } else {
      list.properties.insert(list.properties.end(), from, from + bytes);
    }
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i <= ids.size(); ++i) {
    const bool last = i == ids.size();
    const VertexName neighbour = last ? 0 : base.NameOf(ids[i]);
    bool spoken_of = false;
    for (; next < latest.size() && (last || latest[next]->neighbour <= neighbour); ++next) {
      const EdgeEntry& entry = *latest[next];
      spoken_of = !last && entry.neighbour == neighbour;
      const auto* const from = reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
      if (entry.alive != 0) add(entry.neighbour, entry.time, from);
    }
    if (last || spoken_of) continue;
    add(neighbour, times.empty() ? 0 : times[i],
        properties.empty() ? nullptr : properties.data() + i * bytes);
  }
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
  return Answer::kYes;
}

}  // namespace slimgraph::txn
