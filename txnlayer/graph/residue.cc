// What stays in the tables after a fold.
#include <algorithm>

#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/graph/fold.h"
#include "txnlayer/internal/store/record.h"

namespace slimgraph::txn {
namespace {

// The latest version, while nothing runs. Null: there is none.
const std::byte* RecordOf(const Engine& engine, const TupleView& tuple) {
  return RecordOfVersion(engine.protocol().LatestVersion(tuple));
}

// Visits the records of all partitions and copies on this node.
void ForEachHeldRecord(const Engine& engine, const Table& table,
                       const std::function<void(Key, const std::byte*)>& look) {
  for (Rank rank = 0; rank < engine.options().replicas; ++rank) {
    for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
      const TupleView tuple(TupleAt(table, rank, i));
      const std::byte* const record = RecordOf(engine, tuple);
      if (record != nullptr) look(tuple.key(), record);
    }
  }
}

// A record can go if it says the same as the base.
bool Stays(const GraphShape& shape, const std::byte* record, bool in_base) {
  VertexRecord vertex;
  std::memcpy(&vertex, record, sizeof vertex);
  return shape.vertex_bytes != 0 || (vertex.alive != 0) != in_base;
}

}  // namespace

Residue::Residue(TransactionalGraph& graph, GraphTime at, const BaseGraph::Contents& next)
    : graph_(graph) {
  Engine& engine = graph.engine();
  ForEachHeldRecord(engine, graph.blocks(), [&](Key key, const std::byte* record) {
    const EdgeBlock block(graph.shape(), const_cast<std::byte*>(record));
    const VertexName vertex = VertexOfKey(key);
    if (block.kind() == BlockKind::kSplit) return;
    if ((block.kind() == BlockKind::kOpen) != next.DenseOf(vertex).has_value()) {
      differing_.push_back(vertex);
    }
    TakeBlock(vertex, block, at, next);
  });
  std::sort(differing_.begin(), differing_.end());
  differing_.erase(std::unique(differing_.begin(), differing_.end()), differing_.end());
  // Entries of a neighbour are in one block, and stable_sort keeps their order. The order of all
  // others must not depend on where blocks lie, because copies must be identical.
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
                        const BaseGraph::Contents& next) {
  for (std::uint32_t i = 0; i < block.count(); ++i) {
    EdgeEntry entry = block.entry(i);
    if (HaveDenseIds(next, vertex, entry.neighbour)) {
      if (entry.time <= at) continue;
      const EdgeEntry* const seen = block.Find(entry.neighbour, at);
      if (seen != nullptr) entry.in_base = seen->alive;
    } else {
      ++entries_without_id_;
    }
    entries_.push_back({vertex, entry, properties_.size()});
    const std::byte* const from = block.properties(block.entry(i));
    properties_.insert(properties_.end(), from,
                       from + EdgeBlock::Stride(graph_.shape()) - sizeof(EdgeEntry));
  }
}

// Resets the tuples of staying vertices in place, as if each had just been inserted: the record in
// the first version, unlocked, with a write count of one.
void Residue::ResetVertices() {
  const Engine& engine = graph_.engine();
  Table& table = graph_.vertices();
  const auto keep = [&](const std::byte* bytes) {
    const TupleView tuple(table, bytes);
    const std::byte* const record = RecordOf(engine, tuple);
    const bool in_base = graph_.base().DenseOf(VertexOfKey(tuple.key())).has_value();
    return record != nullptr && Stays(graph_.shape(), record, in_base);
  };
  for (Rank rank = 0; rank < engine.options().replicas; ++rank) {
    table.Sweep(rank, keep, table.shape().fresh, 0);
    for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
      const MutableTupleView tuple = TupleAt(table, rank, i);
      std::byte* const version = tuple.version(0);
      std::memmove(version, engine.protocol().LatestVersion(tuple), table.version_bytes());
      std::memcpy(version, &kWord, sizeof kWord);
      std::fill(version + table.version_bytes(), tuple.end(), std::byte{0});
      tuple.StoreMetadata(table.shape().fresh);
    }
  }
}

Rank Residue::RankOf(const Record& block) const {
  const Engine& engine = graph_.engine();
  return engine.tables().view().RankAt(engine.self(), graph_.blocks().Home(block.key));
}

bool Residue::Fits() const {
  std::vector<std::vector<Key>> keys(graph_.engine().options().replicas);
  for (const Record& block : blocks_) keys[RankOf(block)].push_back(block.key);
  return std::ranges::all_of(keys, [this](const auto& of_rank) {
    return graph_.engine().tables().MakeRoom(graph_.blocks(), of_rank.size()) &&
           graph_.blocks().TakesAll(of_rank);
  });
}

void Residue::Install() {
  ResetVertices();
  Table& table = graph_.blocks();
  table.Clear();
  for (const Record& block : blocks_) {
    SLIM_CHECK(table.Load(block.key, block.bytes, RankOf(block), kWord), "a fold does not fit");
  }
}

std::uint64_t Residue::AppendLogRecords(std::vector<std::uint64_t>& words) const {
  const Engine& engine = graph_.engine();
  std::uint64_t count = 0;
  const auto add = [&](const Table& table, const std::vector<Record>& records) {
    std::vector<std::byte> version(table.version_bytes());
    std::memcpy(version.data(), &kWord, sizeof kWord);
    for (const Record& one : records) {
      if (engine.tables().view().Primary(table.Home(one.key)) != engine.self()) continue;
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

Status Residue::Compute() {
  const auto put = [&](VertexName vertex, bool differs, std::span<const Entry> entries) -> Status {
    const BlockTree tree(graph_.base(), vertex);
    const bool open = tree.base.has_value() != differs;
    std::vector<std::vector<Entry>> parts(BlocksAt(tree.first_depth));
    const std::uint32_t first = FirstBlockAt(tree.first_depth);
    for (const Entry& entry : entries) {
      parts[BlockOf(entry.entry.neighbour, tree.first_depth) - first].push_back(entry);
    }
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty() && !differs) continue;
      SLIM_TRY(PutBlock(vertex, first + i, tree.first_depth,
                        open ? BlockKind::kOpen : BlockKind::kDead, parts[i]));
    }
    return {};
  };
  auto differing = differing_.begin();
  for (auto first = entries_.begin(); first != entries_.end() || differing != differing_.end();) {
    VertexName vertex = first != entries_.end() ? first->vertex : *differing;
    if (differing != differing_.end()) vertex = std::min(vertex, *differing);
    const auto end = std::find_if(first, entries_.end(),
                                  [&](const Entry& entry) { return entry.vertex != vertex; });
    const bool differs = differing != differing_.end() && *differing == vertex;
    if (differs) ++differing;
    SLIM_TRY(put(vertex, differs, std::span(first, end)));
    first = end;
  }
  if (!Fits()) return tl::unexpected(TableFullError());
  return {};
}

Status Residue::PutBlock(VertexName vertex, std::uint32_t number, unsigned depth, BlockKind kind,
                         std::span<const Entry> entries) {
  std::vector<std::byte> record(EdgeBlock::RecordBytes(graph_.shape()));
  EdgeBlock block(graph_.shape(), record.data());
  const bool split = entries.size() > block.capacity();
  block.Clear(split ? BlockKind::kSplit : kind);
  if (!split) {
    for (const Entry& one : entries)
      block.AppendCopy(one.entry, properties_.data() + one.properties);
  }
  if (depth > kMaxDepth) return tl::unexpected(TableFullError());
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
