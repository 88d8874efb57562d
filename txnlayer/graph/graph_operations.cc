// Operations on single vertices and edges.
#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {

// --- vertices

// In a directed graph the out-side has the vertex's record.
Access* GraphTransaction::VertexAccess(VertexName vertex, bool write, bool& alive) {
  if (!CheckName(vertex)) return nullptr;
  const VertexName side = SideOf(vertex, Direction::kOut);
  Access* const access = FetchTuple(graph_.vertices(), VertexKey(side), write);
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

// False: the transaction was aborted.
bool GraphTransaction::ReadProperties(const Access& access, MutableBytes properties) {
  if (access.exists()) {
    std::copy_n(access.record() + sizeof(VertexRecord), properties.size(), properties.begin());
    return true;
  }
  std::fill(properties.begin(), properties.end(), std::byte{0});
  if (properties.empty() || !graph_.base().has_vertex_properties()) return true;
  Bytes found;
  const auto vertex = graph_.base().Find(VertexOfKey(access.key));
  if (!vertex) return AbortInconsistent();  // an index has named it
  if (!base_.ReadVertexProperties(*vertex, found)) return AbortNodeLost();
  std::copy_n(found.begin(), properties.size(), properties.begin());
  return true;
}

// False: the transaction was aborted.
bool GraphTransaction::PutVertex(Access& access, bool alive, Bytes properties) {
  if (!graph_.indexes().all().empty() && !UpdateIndexes(access, alive, properties)) return false;
  VertexRecord record{};
  if (access.exists()) {
    record = access.Get<VertexRecord>();
  } else {
    const bool in_base = graph_.base().DenseOf(VertexOfKey(access.key)).has_value();
    record.alive = in_base ? 1 : 0;
  }
  access.SetExists(true);
  WrittenVertex written{.access = &access};
  if ((record.alive != 0) != alive) {
    written.since = record.since;
    written.alive = record.alive;
    record.alive = alive ? 1 : 0;
    record.since = kTimePending;
  }
  record.time = kTimePending;
  std::memcpy(access.record(), &record, sizeof record);
  std::byte* const into = access.record() + sizeof record;
  std::memset(into, 0, graph_.shape().vertex_bytes);
  std::copy(properties.begin(), properties.end(), into);
  written_vertices_.push_back(written);
  return true;
}

Answer GraphTransaction::GetVertex(VertexName vertex, MutableBytes properties) {
  bool alive = false;
  Access* const access = VertexAccess(vertex, false, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  const std::size_t bytes = std::min<std::size_t>(properties.size(), graph_.shape().vertex_bytes);
  return ReadProperties(*access, properties.first(bytes)) ? Answer::kYes : Answer::kAborted;
}

Answer GraphTransaction::SetVertex(VertexName vertex, Bytes properties) {
  if (!CheckProperties("a vertex", properties, graph_.shape().vertex_bytes)) {
    return Answer::kAborted;
  }
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!alive) return Answer::kNo;
  if (!PutVertex(*access, true, properties)) return Answer::kAborted;
  AppendToJournal({UpdateKind::kAddVertex, vertex, 0, properties});
  return Answer::kYes;
}

Answer GraphTransaction::AddVertex(VertexName vertex, Bytes properties) {
  if (!CheckProperties("a vertex", properties, graph_.shape().vertex_bytes)) {
    return Answer::kAborted;
  }
  bool alive = false;
  Access* const access = VertexAccess(vertex, true, alive);
  if (access == nullptr) return Answer::kAborted;
  if (!PutVertex(*access, true, properties)) return Answer::kAborted;
  AppendToJournal({UpdateKind::kAddVertex, vertex, 0, properties});
  if (alive) return Answer::kYes;
  ++vertex_change_;
  for (const Direction direction : DirectionsOf(graph_.shape())) {
    const BlockTree tree(graph_.base(), SideOf(vertex, direction));
    if (!SetBlocks(tree, BlockKind::kOpen)) return Answer::kAborted;
  }
  return Answer::kYes;
}

bool GraphTransaction::SetBlocks(const BlockTree& vertex, BlockKind kind) {
  bool alive = false;
  if (!AllBlocks(vertex, true, alive) || !AcquireBlocks(all_blocks_)) return false;
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

bool GraphTransaction::FindInBase(const Side& side, EdgeState& now) {
  now.in_base = false;
  if (!side.vertex.base) return true;
  const auto other = graph_.base().Find(side.neighbour);
  if (!other) return true;
  const bool mine = &base_.FasterToSearch(*side.vertex.base, *other) == &*side.vertex.base;
  now.base_side = mine ? *side.vertex.base : *other;
  std::optional<EdgeOffset> position;
  if (!base_.FindNeighbour(now.base_side, mine ? other->dense : side.vertex.base->dense,
                           position)) {
    return AbortNodeLost();
  }
  now.in_base = position.has_value();
  now.base_position = position.value_or(0);
  return true;
}

bool GraphTransaction::FindEdge(const Side& side, EdgeState& now) {
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

Answer GraphTransaction::WriteEdge(VertexName one, VertexName other, Precondition precondition,
                                   bool alive, Bytes properties) {
  if (!CheckName(std::max(one, other))) return Answer::kAborted;
  if (!CheckProperties("an edge", properties, graph_.shape().edge_bytes)) return Answer::kAborted;
  const VertexName from = SideOf(one, Direction::kOut);
  const VertexName to = SideOf(other, Direction::kIn);
  Side both[2];
  both[0].vertex = BlockTree(graph_.base(), from);
  both[0].neighbour = to;
  if (from != to) {
    both[1].vertex = BlockTree(graph_.base(), to);
    both[1].neighbour = from;
  }
  const std::span<Side> sides(both, from == to ? 1 : 2);
  if (!FindSides(sides, true)) return Answer::kAborted;
  for (const Side& side : sides) {
    if (!side.open) return Answer::kNo;
  }
  EdgeState now;
  if (!FindEdge(sides[0], now)) return Answer::kAborted;
  if (precondition == Precondition::kEdgeExists && !now.alive) return Answer::kNo;
  const bool in_base = now.in_base;
  const bool was_alive = now.alive;
  if (!AcquireSides(sides) || !PutOnBoth(sides, alive, in_base, properties))
    return Answer::kAborted;
  edge_change_ += (alive ? 1 : 0) - (was_alive ? 1 : 0);
  AppendToJournal({alive ? UpdateKind::kAddEdge : UpdateKind::kDeleteEdge, one, other, properties});
  return Answer::kYes;
}

Answer GraphTransaction::AddEdge(VertexName one, VertexName other, Bytes properties) {
  return WriteEdge(one, other, Precondition::kNone, true, properties);
}

Answer GraphTransaction::SetEdge(VertexName one, VertexName other, Bytes properties) {
  return WriteEdge(one, other, Precondition::kEdgeExists, true, properties);
}

Answer GraphTransaction::DeleteEdge(VertexName one, VertexName other) {
  return WriteEdge(one, other, Precondition::kEdgeExists, false, {});
}

Answer GraphTransaction::GetEdge(VertexName one, VertexName other, StoredEdge& edge,
                                 MutableBytes properties) {
  if (!CheckName(std::max(one, other))) return Answer::kAborted;
  Side side;
  side.vertex = BlockTree(graph_.base(), SideOf(one, Direction::kOut));
  side.neighbour = SideOf(other, Direction::kIn);
  if (!FindSides({&side, 1}, false)) return Answer::kAborted;
  if (!side.open) return Answer::kNo;
  EdgeState now;
  if (!FindEdge(side, now)) return Answer::kAborted;
  if (!now.alive) return Answer::kNo;
  edge.neighbour = other;
  const std::size_t bytes = std::min<std::size_t>(properties.size(), graph_.shape().edge_bytes);
  if (now.entry != nullptr) {
    edge.time = now.entry->time;
    std::copy_n(BlockOf(*side.access).properties(*now.entry), bytes, properties.data());
    return Answer::kYes;
  }
  std::span<const MarkedEdge> marked;
  if (!base_.ReadMark(now.base_side, now.base_position, marked)) {
    AbortNodeLost();
    return Answer::kAborted;
  }
  edge.time = marked.empty() ? 0 : marked[0].time();
  std::fill(properties.begin(), properties.end(), std::byte{0});
  if (!marked.empty()) std::copy_n(marked[0].properties(), bytes, properties.data());
  return Answer::kYes;
}

}  // namespace slimgraph::txn
