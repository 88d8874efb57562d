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

// An edge of which it is known when it was written.
struct Timed {
  StoredEdge edge;
  const std::byte* properties;  // null: zeros
};

// The newest first, and of those of one commit the smaller neighbour.
bool Newer(const Timed& one, const Timed& other) {
  if (one.edge.time != other.edge.time) return one.edge.time > other.edge.time;
  return one.edge.neighbour < other.edge.neighbour;
}

// A part of a list of the base; no times and no properties are all zeros.
struct BaseEdges {
  std::span<const VertexId> ids;
  std::span<const GraphTime> times;
  Bytes properties;
  const std::byte* PropertiesOf(std::size_t i, std::uint32_t bytes) const {
    return properties.empty() ? nullptr : properties.data() + i * bytes;
  }
};

// What is put together of a list.
class ListBuilder {
 public:
  ListBuilder(const BaseGraph& base, const NeighbourQuery& query, std::uint32_t bytes,
              NeighbourList& list)
      : base_(base), query_(query), bytes_(bytes), list_(list) {}

  bool full() const { return list_.edges.size() >= query_.limit; }
  void Add(const StoredEdge& edge, const std::byte* properties) {
    if (full() || !Within(edge.time, query_)) return;
    list_.edges.push_back(edge);
    const std::size_t at = list_.properties.size();
    list_.properties.resize(at + bytes_);
    if (properties != nullptr) std::copy_n(properties, bytes_, list_.properties.data() + at);
  }
  void Add(const EdgeEntry& entry) {
    if (entry.alive != 0) Add({entry.neighbour, entry.time}, PropertiesOf(entry));
  }
  // Edges of the base, those without a time or all.
  void Add(const BaseEdges& edges, std::size_t first, std::size_t count, bool without_time) {
    const std::size_t end = first + count;
    for (std::size_t at = first; at < end && !full();) {
      if (!edges.times.empty() && edges.times[at] != 0) {
        if (!without_time) {
          Add({base_.NameOf(edges.ids[at]), edges.times[at]}, edges.PropertiesOf(at, bytes_));
        }
        ++at;
        continue;
      }
      const std::size_t begin = at;
      at = end;
      if (!edges.times.empty()) {
        const auto from = edges.times.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto to = edges.times.begin() + static_cast<std::ptrdiff_t>(end);
        const auto known = std::find_if(from, to, [](GraphTime time) { return time != 0; });
        at = static_cast<std::size_t>(known - edges.times.begin());
      }
      AddWithoutTime(edges, begin, at - begin);
    }
  }
  static const std::byte* PropertiesOf(const EdgeEntry& entry) {
    return reinterpret_cast<const std::byte*>(&entry) + sizeof(EdgeEntry);
  }

 private:
  // Each edge is written once, though there may be thousands.
  void AddWithoutTime(const BaseEdges& edges, std::size_t first, std::size_t count) {
    if (!Within(0, query_)) return;
    count = std::min<std::size_t>(count, query_.limit - list_.edges.size());
    const OriginalIds& ids = base_.ids();
    if (ids.contiguous()) {
      const auto edge_of = [least = ids.first()](VertexId id) { return StoredEdge{least + id, 0}; };
      Append(edges.ids.subspan(first, count), edge_of);
    } else {
      Append(edges.ids.subspan(first, count), [&](VertexId id) { return StoredEdge{ids[id], 0}; });
    }
    if (bytes_ == 0) return;
    if (edges.properties.empty()) {
      list_.properties.resize(list_.properties.size() + count * bytes_);
    } else {
      const std::byte* const from = edges.PropertiesOf(first, bytes_);
      list_.properties.insert(list_.properties.end(), from, from + count * bytes_);
    }
  }
  template <typename EdgeOf>
  void Append(std::span<const VertexId> ids, EdgeOf edge_of) {
    list_.edges.reserve(list_.edges.size() + ids.size());
    for (const VertexId id : ids) list_.edges.push_back(edge_of(id));
  }

  const BaseGraph& base_;
  const NeighbourQuery& query_;
  const std::uint32_t bytes_;
  NeighbourList& list_;
};

// Both in the order of neighbours: what the base has and no entry speaks of, run(first, count), and
// the entries, entry(one). Each says whether to go on.
template <typename Run, typename Entry>
void ForEachInOrder(const BaseGraph& base, std::span<const VertexId> ids,
                    std::span<const EdgeEntry* const> latest, Run run, Entry entry) {
  const auto comes_before = [&](VertexId id, VertexName name) { return base.NameOf(id) < name; };
  std::size_t at = 0;
  for (const EdgeEntry* const next : latest) {
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::lower_bound(from, ids.end(), next->neighbour, comes_before);
    const auto end = static_cast<std::size_t>(found - ids.begin());
    if (end > at && !run(at, end - at)) return;
    at = end;
    if (at < ids.size() && base.NameOf(ids[at]) == next->neighbour) ++at;
    if (!entry(*next)) return;
  }
  if (at < ids.size()) run(at, ids.size() - at);
}

// Those that have a time.
std::vector<Timed> NewestFirst(const BaseGraph& base, const BaseEdges& edges,
                               std::span<const EdgeEntry* const> latest, std::uint32_t bytes) {
  std::vector<Timed> timed;
  const auto take_entry = [&](const EdgeEntry& one) {
    if (one.alive != 0) {
      timed.push_back({{one.neighbour, one.time}, ListBuilder::PropertiesOf(one)});
    }
    return true;
  };
  const auto take_run = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      if (edges.times[i] == 0) continue;
      timed.push_back({{base.NameOf(edges.ids[i]), edges.times[i]}, edges.PropertiesOf(i, bytes)});
    }
    return true;
  };
  const bool known = !edges.times.empty();
  ForEachInOrder(base, known ? edges.ids : std::span<const VertexId>(), latest, take_run,
                 take_entry);
  std::sort(timed.begin(), timed.end(), Newer);
  return timed;
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

// Of each neighbour of which blocks tell, what they say last, in order. False: aborted.
bool GraphTransaction::LatestEntries(const VertexPlace& vertex,
                                     std::vector<const EdgeEntry*>& latest, bool& alive) {
  std::vector<Side> blocks;
  if (!AllBlocks(vertex, false, blocks, alive)) return false;
  for (const Side& side : blocks) {
    if (!side.access->exists()) continue;
    const EdgeBlock block = BlockOf(*side.access);
    for (std::uint32_t i = 0; i < block.count(); ++i) {
      const EdgeEntry& entry = block.entry(i);
      if (block.Find(entry.neighbour) == &entry) latest.push_back(&entry);
    }
  }
  SortByNeighbour(latest);
  return true;
}

Answer GraphTransaction::Neighbours(VertexName vertex, const NeighbourQuery& query,
                                    NeighbourList& list) {
  list.edges.clear();
  list.properties.clear();
  const VertexPlace place(graph_.base(), vertex);
  std::vector<const EdgeEntry*> latest;
  bool alive = false;
  if (!LatestEntries(place, latest, alive)) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  const BaseGraph& base = graph_.base();
  const std::uint32_t bytes = query.properties ? graph_.shape().edge_bytes : 0;
  BaseEdges edges;
  if (place.base && (base.has_edge_times() || Within(0, query))) {
    if (!base_.List(*place.base, edges.ids) ||
        !base_.EdgeTimes(*place.base, 0, edges.ids.size(), edges.times) ||
        (bytes > 0 && !base_.EdgeProperties(*place.base, 0, edges.ids.size(), edges.properties))) {
      LostNode();
      return Answer::kAborted;
    }
  }
  ListBuilder builder(base, query, bytes, list);
  if (query.newest_first) {
    // Edges of which it is not known when they were written are older than all others.
    for (const Timed& one : NewestFirst(base, edges, latest, bytes)) {
      if (builder.full()) return Answer::kYes;
      builder.Add(one.edge, one.properties);
    }
  }
  ForEachInOrder(
      base, edges.ids, latest,
      [&](std::size_t first, std::size_t count) {
        builder.Add(edges, first, count, query.newest_first);
        return !builder.full();
      },
      [&](const EdgeEntry& one) {
        if (!query.newest_first) builder.Add(one);
        return !builder.full();
      });
  return Answer::kYes;
}

Answer GraphTransaction::DeleteVertex(VertexName vertex) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  const VertexPlace place(graph_.base(), vertex);
  std::vector<const EdgeEntry*> latest;
  bool open = false;
  if (!LatestEntries(place, latest, open)) return Answer::kAborted;
  if (!open) return Inconsistent(), Answer::kAborted;
  std::span<const VertexId> ids;
  if (place.base && !base_.List(*place.base, ids)) return LostNode(), Answer::kAborted;
  // Its edges, with whether the base has them: nothing more has to be known of either side.
  std::vector<std::pair<VertexName, bool>> edges;
  edges.reserve(ids.size() + latest.size());
  ForEachInOrder(
      graph_.base(), ids, latest,
      [&](std::size_t first, std::size_t count) {
        for (const VertexId id : ids.subspan(first, count)) {
          edges.emplace_back(graph_.base().NameOf(id), true);
        }
        return true;
      },
      [&](const EdgeEntry& one) {
        if (one.alive != 0) edges.emplace_back(one.neighbour, one.in_base != 0);
        return true;
      });
  // Both sides of all edges at once: those of the neighbours, then its own.
  std::vector<Side> sides;
  sides.reserve(2 * edges.size());
  for (const auto& [neighbour, in_base] : edges) {
    Side& side = sides.emplace_back();
    side.vertex = VertexPlace(graph_.base(), neighbour);
    side.neighbour = vertex;
    side.in_base = in_base;
  }
  for (const auto& [neighbour, in_base] : edges) {
    if (neighbour == vertex) continue;
    Side& side = sides.emplace_back();
    side.vertex = place;
    side.neighbour = neighbour;
    side.in_base = in_base;
  }
  if (!FindSides(sides, true) || !OwnSides(sides)) return Answer::kAborted;
  for (Side& side : sides) {
    if (!side.open) return Inconsistent(), Answer::kAborted;
    // Blocks of one vertex may have been split since they were found.
    if (BlockOf(*side.access).kind() == BlockKind::kSplit && side.access->exists()) {
      if (!FindSides({&side, 1}, true) || !OwnSides({&side, 1})) return Answer::kAborted;
    }
    if (!Put(side, false, side.in_base, {})) return Answer::kAborted;
  }
  if (!SetBlocks(place, BlockKind::kDead)) return Answer::kAborted;
  PutVertex(*access, false, {});
  Note({UpdateKind::kDeleteVertex, vertex, 0, {}});
  --vertex_change_;
  edge_change_ -= static_cast<std::int64_t>(edges.size());
  return Answer::kYes;
}

}  // namespace slimgraph::txn
