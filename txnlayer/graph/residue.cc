// What stays of the changes when the rest has been folded.
#include <algorithm>

#include "txnlayer/graph/fold.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

Residue::Residue(TransactionalGraph& graph, GraphTime at, const BaseGraph::Next& next)
    : graph_(graph) {
  Engine& engine = graph.engine();
  ForEachRecord(engine, graph.blocks(), [&](Key key, const std::byte* record) {
    if (record == nullptr) return;
    const EdgeBlock block(graph.shape(), const_cast<std::byte*>(record));
    const VertexName vertex = VertexOfKey(key);
    if (block.kind() == BlockKind::kSplit) return;
    if ((block.kind() == BlockKind::kOpen) != next.DenseOf(vertex).has_value()) {
      odd_.push_back(vertex);
    }
    TakeBlock(vertex, block, at, next);
  });
  std::sort(odd_.begin(), odd_.end());
  odd_.erase(std::unique(odd_.begin(), odd_.end()), odd_.end());
  // Those of a neighbour are of one block, and stay in their order.
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.vertex < b.vertex; });
  const Table& table = graph.vertices();
  ForEachRecord(engine, graph.vertices(), [&](Key key, const std::byte* record) {
    if (record == nullptr) return;
    VertexRecord vertex;
    std::memcpy(&vertex, record, sizeof vertex);
    const bool in_base = next.DenseOf(VertexOfKey(key)).has_value();
    // One that says what the base does.
    if (graph.shape().vertex_bytes == 0 && (vertex.alive != 0) == in_base) return;
    vertices_.push_back({key, {record, record + table.spec().record_bytes}});
  });
}

void Residue::TakeBlock(VertexName vertex, const EdgeBlock& block, GraphTime at,
                        const BaseGraph::Next& next) {
  for (std::uint32_t i = 0; i < block.count(); ++i) {
    EdgeEntry entry = block.entry(i);
    if (HasPlaces(next, vertex, entry.neighbour)) {
      if (entry.time <= at) continue;
      const EdgeEntry* const seen = block.Find(entry.neighbour, at);
      if (seen != nullptr) entry.in_base = seen->alive;
    } else {
      ++unplaced_;
    }
    entries_.push_back({vertex, entry, properties_.size()});
    const std::byte* const from = block.properties(block.entry(i));
    properties_.insert(properties_.end(), from,
                       from + EdgeBlock::Stride(graph_.shape()) - sizeof(EdgeEntry));
  }
}

Status Residue::PutBack() {
  graph_.blocks().Clear();
  graph_.vertices().Clear();
  for (const Record& record : vertices_) {
    if (!graph_.vertices().Load(record.key, record.bytes)) return EnvironmentError("a full table");
  }
  const auto put = [&](VertexName vertex, bool is_odd, std::span<const Entry> entries) -> Status {
    const VertexPlace place(graph_.base(), vertex);
    const bool open = place.base.has_value() != is_odd;
    std::vector<std::vector<Entry>> parts(BlocksAt(place.first_depth));
    const std::uint32_t first = FirstBlockAt(place.first_depth);
    for (const Entry& entry : entries) {
      parts[BlockOf(entry.entry.neighbour, place.first_depth) - first].push_back(entry);
    }
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty() && !is_odd) continue;
      SLIM_TRY(PutBlock(vertex, first + i, place.first_depth,
                        open ? BlockKind::kOpen : BlockKind::kDead, parts[i]));
    }
    return {};
  };
  auto odd = odd_.begin();
  for (auto first = entries_.begin(); first != entries_.end() || odd != odd_.end();) {
    VertexName vertex = first != entries_.end() ? first->vertex : *odd;
    if (odd != odd_.end()) vertex = std::min(vertex, *odd);
    const auto end = std::find_if(first, entries_.end(),
                                  [&](const Entry& entry) { return entry.vertex != vertex; });
    const bool is_odd = odd != odd_.end() && *odd == vertex;
    if (is_odd) ++odd;
    SLIM_TRY(put(vertex, is_odd, std::span(first, end)));
    first = end;
  }
  return {};
}

Status Residue::PutBlock(VertexName vertex, std::uint32_t number, unsigned depth, BlockKind kind,
                         std::span<const Entry> entries) {
  std::vector<std::byte> record(EdgeBlock::RecordBytes(graph_.shape()));
  EdgeBlock block(graph_.shape(), record.data());
  const bool split = entries.size() > block.capacity();
  block.Clear(split ? BlockKind::kSplit : kind);
  if (!split) {
    for (const Entry& one : entries) block.Take(one.entry, properties_.data() + one.properties);
  }
  if (depth > kMaxDepth || !graph_.blocks().Load(BlockKey(vertex, number), record)) {
    return EnvironmentError("the table of edges is full");
  }
  if (!split) return {};
  std::vector<Entry> parts[kFanOut];
  for (const Entry& one : entries) {
    parts[(BlockOf(one.entry.neighbour, depth + 1) - 1) % kFanOut].push_back(one);
  }
  for (std::uint32_t i = 0; i < kFanOut; ++i) {
    SLIM_TRY(PutBlock(vertex, kFanOut * number + 1 + i, depth + 1, kind, parts[i]));
  }
  return {};
}

}  // namespace slimgraph::txn
