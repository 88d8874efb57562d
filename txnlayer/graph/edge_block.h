// A block of a vertex's edges: what a record of the table of blocks holds. It lists, from old to
// new, what has become of edges to neighbours since the base: for a neighbour, the last entry
// counts, and where there is none, the base does.
#pragma once

#include <algorithm>
#include <span>

#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

enum class BlockKind : std::uint32_t {
  kOpen = 1,   // its vertex is there
  kSplit = 2,  // its entries are in the blocks below
  kDead = 3,   // its vertex has been deleted
};

struct EdgeEntry {
  std::uint64_t neighbour;
  GraphTime time;
  std::uint32_t alive;    // 0: the edge has been deleted
  std::uint32_t in_base;  // whether the base has an edge to that neighbour
  // The properties follow, in whole words.
};

// A view of a record, which is somebody else's.
class EdgeBlock {
 public:
  EdgeBlock(const GraphShape& shape, std::byte* record)
      : stride_(Stride(shape)), capacity_(Capacity(shape)), record_(record) {}

  static std::uint32_t Stride(const GraphShape& shape) {
    return static_cast<std::uint32_t>(sizeof(EdgeEntry)) + WholeWords(shape.edge_bytes);
  }
  // Half a kilobyte, but seven entries at least.
  static std::uint32_t Capacity(const GraphShape& shape) {
    constexpr auto kRoom = static_cast<std::uint32_t>(512 - sizeof(Header));
    return std::max(7U, kRoom / Stride(shape));
  }
  static std::uint32_t RecordBytes(const GraphShape& shape) {
    return static_cast<std::uint32_t>(sizeof(Header)) + Capacity(shape) * Stride(shape);
  }

  // A block without entries.
  void Clear(BlockKind kind) {
    std::memset(record_, 0, sizeof(Header));
    SetKind(kind);
  }

  BlockKind kind() const { return header().kind; }
  void SetKind(BlockKind kind) { header().kind = kind; }
  std::uint32_t count() const { return header().count; }
  std::uint32_t capacity() const { return capacity_; }
  // By how much the vertex has more neighbours than in the base, as far as this block goes.
  std::int64_t degree_change() const { return header().degree_change; }
  // The last commit that wrote here.
  GraphTime written_at() const { return header().written_at; }
  // What was superseded before that may have been forgotten.
  GraphTime complete_from() const { return header().complete_from; }

  EdgeEntry& entry(std::uint32_t i) const {
    return *reinterpret_cast<EdgeEntry*>(record_ + sizeof(Header) + std::size_t{i} * stride_);
  }
  std::byte* properties(const EdgeEntry& entry) const {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(&entry)) + sizeof(EdgeEntry);
  }

  // What counts for that neighbour at a time; null: the base does.
  EdgeEntry* Find(VertexName neighbour, GraphTime at = kTimePending) const;

  // The entry for `neighbour` that the transaction at hand writes: its own, or one more. Null when
  // there is no room. Its properties are as they were where the edge was alive, and else zeros.
  EdgeEntry* Put(VertexName neighbour, bool alive, bool in_base);

  // Makes room: forgets what nobody sees any more that looks at `oldest_seen` or later.
  void Forget(GraphTime oldest_seen);

  // Moves all entries into the blocks of the next depth, which are open and empty.
  void SplitInto(std::span<EdgeBlock> below, unsigned depth);

  // The transaction commits at that time.
  void Stamp(GraphTime time);

 private:
  struct Header {
    BlockKind kind;
    std::uint32_t count;
    std::int64_t degree_change;
    GraphTime written_at;
    GraphTime complete_from;
  };
  Header& header() const { return *reinterpret_cast<Header*>(record_); }
  static int Counts(const EdgeEntry& entry) {
    return (entry.alive != 0 ? 1 : 0) - (entry.in_base != 0 ? 1 : 0);
  }
  EdgeEntry& Append(const EdgeEntry& entry, const std::byte* properties);

  std::uint32_t stride_;
  std::uint32_t capacity_;
  std::byte* record_;
};

}  // namespace slimgraph::txn
