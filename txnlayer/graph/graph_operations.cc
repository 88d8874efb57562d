// Single vertices and edges.
#include <algorithm>

#include "slimgraph/base/check.h"
#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {

// --- vertices

// Of a directed graph the record is that of the out-side.
Access* GraphTransaction::VertexAccess(VertexName vertex, bool write, bool& alive) {
  SLIM_CHECK(vertex <= MaxVertexName(graph_.shape().directed), "vertex {}", vertex);
  const VertexName side = SideOf(vertex, Direction::kOut);
  Access* const access = TouchOne(graph_.vertices(), VertexKey(side), write);
  if (access == nullptr) return nullptr;
  if (!access->exists()) {
    alive = graph_.base().DenseOf(side).has_value();
    return access;
  }
  const auto record = access->Get<VertexRecord>();
  alive = record.alive != 0;
  Saw(record.time);
  return access;
}

void GraphTransaction::PutVertex(Access& access, bool alive, Bytes properties) {
  VertexRecord record{};
  if (access.exists()) {
    record = access.Get<VertexRecord>();
  } else {
    const bool in_base = graph_.base().DenseOf(VertexOfKey(access.key)).has_value();
    record.alive = in_base ? 1 : 0;
  }
  access.SetExists(true);
  if ((record.alive != 0) != alive) {
    if (record.since <= graph_.pinned()) record.alive_before = record.alive;
    record.alive = alive ? 1 : 0;
    record.since = kTimePending;
  }
  record.time = kTimePending;
  std::memcpy(access.record(), &record, sizeof record);
  std::byte* const into = access.record() + sizeof record;
  std::memset(into, 0, graph_.shape().vertex_bytes);
  std::copy(properties.begin(), properties.end(), into);
  written_vertices_.push_back(&access);
}

Answer GraphTransaction::GetVertex(VertexName vertex, MutableBytes properties) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, false, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  const std::size_t bytes = std::min<std::size_t>(properties.size(), graph_.shape().vertex_bytes);
  if (access->exists()) {
    std::copy_n(access->record() + sizeof(VertexRecord), bytes, properties.begin());
    return Answer::kYes;
  }
  std::fill(properties.begin(), properties.end(), std::byte{0});
  if (bytes == 0 || !graph_.base().has_vertex_properties()) return Answer::kYes;
  Bytes found;
  const VertexName side = VertexOfKey(access->key);
  if (!base_.VertexProperties(*graph_.base().Find(side), found)) {
    LostNode();
    return Answer::kAborted;
  }
  std::copy_n(found.begin(), bytes, properties.begin());
  return Answer::kYes;
}

Answer GraphTransaction::SetVertex(VertexName vertex, Bytes properties) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  PutVertex(*access, true, properties);
  Note({UpdateKind::kAddVertex, vertex, 0, properties});
  return Answer::kYes;
}

Answer GraphTransaction::AddVertex(VertexName vertex, Bytes properties) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  PutVertex(*access, true, properties);
  Note({UpdateKind::kAddVertex, vertex, 0, properties});
  if (alive) return Answer::kYes;
  ++vertex_change_;
  for (const Direction direction : DirectionsOf(graph_.shape())) {
    const VertexPlace place(graph_.base(), SideOf(vertex, direction));
    if (!SetBlocks(place, BlockKind::kOpen)) return Answer::kAborted;
  }
  return Answer::kYes;
}

bool GraphTransaction::SetBlocks(const VertexPlace& vertex, BlockKind kind) {
  bool alive = false;
  if (!AllBlocks(vertex, true, alive) || !Own(all_blocks_)) return false;
  for (Access* const access : all_blocks_) {
    EdgeBlock block = BlockOf(*access);
    if (!access->exists()) {
      access->SetExists(true);
      block.Clear(kind);
    }
    block.SetKind(kind);
    written_blocks_.push_back(access);
  }
  return true;
}

// --- edges

bool GraphTransaction::FindInBase(const Side& side, EdgeNow& now) {
  now.in_base = false;
  if (!side.vertex.base) return true;
  const auto other = graph_.base().Find(side.neighbour);
  if (!other) return true;
  const bool mine = &base_.Nearer(*side.vertex.base, *other) == &*side.vertex.base;
  now.base_side = mine ? *side.vertex.base : *other;
  std::optional<EdgeOffset> place;
  if (!base_.Find(now.base_side, mine ? other->dense : side.vertex.base->dense, place)) {
    return LostNode();
  }
  now.in_base = place.has_value();
  now.base_place = place.value_or(0);
  return true;
}

bool GraphTransaction::LookUp(const Side& side, EdgeNow& now) {
  if (side.access->exists()) {
    now.entry = BlockOf(*side.access).Find(side.neighbour);
    if (now.entry != nullptr) {
      now.alive = now.entry->alive != 0;
      now.in_base = now.entry->in_base != 0;
      return true;
    }
  }
  if (!FindInBase(side, now)) return false;
  now.alive = now.in_base;
  return true;
}

Answer GraphTransaction::WriteEdge(VertexName one, VertexName other, Wanted wanted, bool alive,
                                   Bytes properties) {
  SLIM_CHECK(std::max(one, other) <= MaxVertexName(graph_.shape().directed),
             "an edge from {} to {}", one, other);
  const VertexName from = SideOf(one, Direction::kOut);
  const VertexName to = SideOf(other, Direction::kIn);
  Side both[2];
  both[0].vertex = VertexPlace(graph_.base(), from);
  both[0].neighbour = to;
  if (from != to) {
    both[1].vertex = VertexPlace(graph_.base(), to);
    both[1].neighbour = from;
  }
  const std::span<Side> sides(both, from == to ? 1 : 2);
  if (!FindSides(sides, true)) return Answer::kAborted;
  for (const Side& side : sides) {
    if (!side.open) return Answer::kNo;
  }
  EdgeNow now;
  if (!LookUp(sides[0], now)) return Answer::kAborted;
  if (wanted == Wanted::kPresent && !now.alive) return Answer::kNo;
  const bool in_base = now.in_base;
  const bool was_alive = now.alive;
  if (!OwnSides(sides) || !PutOnBoth(sides, alive, in_base, properties)) return Answer::kAborted;
  edge_change_ += (alive ? 1 : 0) - (was_alive ? 1 : 0);
  Note({alive ? UpdateKind::kAddEdge : UpdateKind::kDeleteEdge, one, other, properties});
  return Answer::kYes;
}

Answer GraphTransaction::AddEdge(VertexName one, VertexName other, Bytes properties) {
  return WriteEdge(one, other, Wanted::kAny, true, properties);
}

Answer GraphTransaction::SetEdge(VertexName one, VertexName other, Bytes properties) {
  return WriteEdge(one, other, Wanted::kPresent, true, properties);
}

Answer GraphTransaction::DeleteEdge(VertexName one, VertexName other) {
  return WriteEdge(one, other, Wanted::kPresent, false, {});
}

Answer GraphTransaction::GetEdge(VertexName one, VertexName other, StoredEdge& edge,
                                 MutableBytes properties) {
  Side side;
  side.vertex = VertexPlace(graph_.base(), SideOf(one, Direction::kOut));
  side.neighbour = SideOf(other, Direction::kIn);
  if (!FindSides({&side, 1}, false)) return Answer::kAborted;
  if (!side.open) return Answer::kNo;
  EdgeNow now;
  if (!LookUp(side, now)) return Answer::kAborted;
  if (!now.alive) return Answer::kNo;
  edge.neighbour = other;
  const std::size_t bytes = std::min<std::size_t>(properties.size(), graph_.shape().edge_bytes);
  if (now.entry != nullptr) {
    edge.time = now.entry->time;
    std::copy_n(BlockOf(*side.access).properties(*now.entry), bytes, properties.data());
    return Answer::kYes;
  }
  std::span<const KnownEdge> known;
  if (!base_.Known(now.base_side, now.base_place, known)) {
    LostNode();
    return Answer::kAborted;
  }
  edge.time = known.empty() ? 0 : known[0].time();
  std::fill(properties.begin(), properties.end(), std::byte{0});
  if (!known.empty()) std::copy_n(known[0].properties(), bytes, properties.data());
  return Answer::kYes;
}

}  // namespace slimgraph::txn
