// What stays of the changes when the rest has been folded.
#include <algorithm>

#include <cstring>

#include "txnlayer/graph/fold.h"
#include "txnlayer/record.h"

namespace slimgraph::txn {
namespace {

// When nothing runs: where the last version of a tuple lies in it.
std::uint64_t LatestAt(const Engine& engine, const Table& table, const std::byte* tuple) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(tuple);
  return table.version_at(engine.protocol().Latest(words));
}

Key KeyOf(const Table& table, const std::byte* tuple) {
  Key key;
  std::memcpy(&key, tuple + table.key_at(), sizeof key);
  return key;
}

// Null: there is none.
const std::byte* RecordOf(const Engine& engine, const Table& table, const std::byte* tuple) {
  const std::byte* const version = tuple + LatestAt(engine, table, tuple);
  std::uint64_t word;
  std::memcpy(&word, version, sizeof word);
  return (word & kExistsBit) != 0 ? version + kWordBytes : nullptr;
}

// All that this node holds, copies too.
void ForEachHeldRecord(const Engine& engine, const Table& table,
                       const std::function<void(Key, const std::byte*)>& look) {
  for (Rank rank = 0; rank < engine.options().replicas; ++rank) {
    for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
      const std::byte* const tuple = table.memory(rank) + table.TupleOffset(i);
      const std::byte* const record = RecordOf(engine, table, tuple);
      if (record != nullptr) look(KeyOf(table, tuple), record);
    }
  }
}

// One that says what the base does, and no more, need not stay.
bool Stays(const GraphShape& shape, const std::byte* record, bool in_base) {
  VertexRecord vertex;
  std::memcpy(&vertex, record, sizeof vertex);
  return shape.vertex_bytes != 0 || (vertex.alive != 0) != in_base;
}

}  // namespace

Residue::Residue(TransactionalGraph& graph, GraphTime at, const BaseGraph::Next& next)
    : graph_(graph) {
  Engine& engine = graph.engine();
  ForEachHeldRecord(engine, graph.blocks(), [&](Key key, const std::byte* record) {
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
  // Those of a neighbour are of one block, and stay in their order; all others have one that does
  // not depend on where blocks lie, for copies are to be the same.
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.vertex != b.vertex ? a.vertex < b.vertex : a.entry.neighbour < b.entry.neighbour;
  });
  const Table& table = graph.vertices();
  ForEachHeldRecord(engine, table, [&](Key key, const std::byte* record) {
    if (!Stays(graph.shape(), record, next.DenseOf(VertexOfKey(key)).has_value())) return;
    ++staying_vertices_;
    if (engine.durability() == nullptr) return;
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

// Vertices stay where they are, as if each had just been put there: in the first version of its
// tuple, free, and written once.
void Residue::KeepVertices() {
  const Engine& engine = graph_.engine();
  Table& table = graph_.vertices();
  const auto keep = [&](const std::byte* tuple) {
    const std::byte* const record = RecordOf(engine, table, tuple);
    const bool in_base = graph_.base().DenseOf(VertexOfKey(KeyOf(table, tuple))).has_value();
    return record != nullptr && Stays(graph_.shape(), record, in_base);
  };
  for (Rank rank = 0; rank < engine.options().replicas; ++rank) {
    table.Sweep(rank, keep, table.shape().fresh, 0);
    for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
      std::byte* const tuple = table.memory(rank) + table.TupleOffset(i);
      std::byte* const version = tuple + table.version_at(0);
      std::memmove(version, tuple + LatestAt(engine, table, tuple), table.version_bytes());
      std::memcpy(version, &kWord, sizeof kWord);
      std::fill(version + table.version_bytes(), tuple + table.version_at(table.shape().versions),
                std::byte{0});
      std::memcpy(tuple, table.shape().fresh, table.shape().metadata_words * kWordBytes);
    }
  }
}

Status Residue::LoadBlocks() {
  const Engine& engine = graph_.engine();
  Table& table = graph_.blocks();
  table.Clear();
  for (const Record& record : blocks_) {
    const Rank rank = engine.view().RankAt(engine.self(), table.Home(record.key));
    if (!table.Load(record.key, record.bytes, rank, kWord)) return tl::unexpected(TableIsFull());
  }
  return {};
}

Status Residue::PutBack() {
  KeepVertices();
  return LoadBlocks();
}

std::uint64_t Residue::AddRecords(std::vector<std::uint64_t>& words) const {
  const Engine& engine = graph_.engine();
  std::uint64_t count = 0;
  const auto add = [&](const Table& table, const std::vector<Record>& records) {
    std::vector<std::byte> version(table.version_bytes());
    std::memcpy(version.data(), &kWord, sizeof kWord);
    for (const Record& one : records) {
      if (engine.view().Primary(table.Home(one.key)) != engine.self()) continue;
      std::copy(one.bytes.begin(), one.bytes.end(), version.begin() + sizeof kWord);
      txn::Record record;
      BeginRecord(record, 0);
      AddWrite(record, table, one.key, version.data());
      words.push_back(record.size());
      words.insert(words.end(), record.begin(), record.end());
      ++count;
    }
  };
  add(graph_.vertices(), vertices_);
  add(graph_.blocks(), blocks_);
  return count;
}

Status Residue::Make() {
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
  if (depth > kMaxDepth) return tl::unexpected(TableIsFull());
  blocks_.push_back({BlockKey(vertex, number), std::move(record)});
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
