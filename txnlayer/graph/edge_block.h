// A block of a vertex's edges: what a record of the table of blocks holds. It lists, from old to
// new, what has become of edges to neighbours since the base: for a neighbour, the last entry
// counts, and where there is none, the base does.
#pragma once

#include <algorithm>
#include <span>

#include "txnlayer/graph/graph_shape.h"

namespace slimgraph::txn {

enum class BlockKind : std::uint16_t {
  kOpen = 1,   // its vertex is there
  kSplit = 2,  // its entries are in the blocks below
  kDead = 3,   // its vertex has been deleted
};

struct EdgeEntry {
  std::uint64_t neighbour : kVertexNameBits;
  std::uint64_t alive : 1;    // 0: the edge has been deleted
  std::uint64_t in_base : 1;  // whether the base has an edge to that neighbour
  GraphTime time;
  // The properties follow, in whole words.
};
static_assert(sizeof(EdgeEntry) == 16);

// A view of a record, which is somebody else's.
class EdgeBlock {
 public:
  EdgeBlock(const GraphShape& shape, std::byte* record)
      : stride_(Stride(shape)), capacity_(Capacity(shape)), record_(record) {}

  static std::uint32_t Stride(const GraphShape& shape) {
    return static_cast<std::uint32_t>(sizeof(EdgeEntry)) + WholeWords(shape.edge_bytes);
  }
  // Few, for most vertices change little between two folds; as many as end with a cache line where
  // a tuple has no more than a word of metadata.
  static std::uint32_t Capacity(const GraphShape& shape) {
    const std::uint32_t few = shape.edge_bytes <= 64 ? 9 : 5;
    constexpr std::uint32_t kBefore = 3 * kWordBytes + sizeof(Header);
    constexpr auto kLine = static_cast<std::uint32_t>(kCacheLineBytes);
    const std::uint32_t lines = (kBefore + few * Stride(shape) + kLine - 1) / kLine;
    return (lines * kLine - kBefore) / Stride(shape);
  }
  static std::uint32_t RecordBytes(const GraphShape& shape) {
    return static_cast<std::uint32_t>(sizeof(Header)) + Capacity(shape) * Stride(shape);
  }

  // By how much an entry that counts changes the degree.
  static int Counts(const EdgeEntry& entry) {
    return (entry.alive != 0 ? 1 : 0) - (entry.in_base != 0 ? 1 : 0);
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

  // Makes room: forgets what nobody sees any more that looks at the time `seen`, or at the last of
  // everything.
  void Forget(GraphTime seen);

  // Appends an entry that another block has had, with its properties. There is room.
  void Take(const EdgeEntry& entry, const std::byte* properties);

  // Moves all entries into the blocks of the next depth, which are open and empty.
  void SplitInto(std::span<EdgeBlock> below, unsigned depth);

  // The transaction commits at that time.
  void Stamp(GraphTime time);

 private:
  struct Header {
    BlockKind kind;
    std::uint16_t count;
    std::int32_t degree_change;
    GraphTime written_at;
  };
  Header& header() const { return *reinterpret_cast<Header*>(record_); }
  EdgeEntry& Append(const EdgeEntry& entry, const std::byte* properties);

  std::uint32_t stride_;
  std::uint32_t capacity_;
  std::byte* record_;
};

}  // namespace slimgraph::txn
