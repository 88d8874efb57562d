// A block of a vertex's edges, stored as a record of the table of blocks. It lists the changes of
// edges since the base, oldest first. The last entry of a neighbour is valid; without an entry, the
// base is.
#pragma once

#include <algorithm>
#include <span>

#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

enum class BlockKind : std::uint16_t {
  kOpen = 1,   // its vertex exists
  kSplit = 2,  // its entries are in the child blocks
  kDead = 3,   // its vertex has been deleted
};

struct EdgeEntry {
  std::uint64_t neighbour : kVertexNameBits;
  std::uint64_t alive : 1;    // 0: the edge was deleted
  std::uint64_t in_base : 1;  // the base has an edge to that neighbour
  GraphTime time;
  // The properties follow, in whole words.
};
static_assert(sizeof(EdgeEntry) == 16);

// A view of a record. Does not own its memory.
class EdgeBlock {
 public:
  EdgeBlock(const GraphShape& shape, std::byte* record)
      : stride_(Stride(shape)), capacity_(Capacity(shape)), record_(record) {}

  static std::uint32_t Stride(const GraphShape& shape) {
    return static_cast<std::uint32_t>(sizeof(EdgeEntry)) + WholeWords(shape.edge_bytes);
  }
  // Few entries, because most vertices change little between two folds. As many as fill whole cache
  // lines, if a tuple has one word of metadata.
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

  // The contribution of a valid entry to the vertex's degree, relative to the base.
  static int DegreeContribution(const EdgeEntry& entry) {
    return (entry.alive != 0 ? 1 : 0) - (entry.in_base != 0 ? 1 : 0);
  }

  // Makes the record a block without entries.
  void Clear(BlockKind kind) {
    std::memset(record_, 0, sizeof(Header));
    SetKind(kind);
  }

  BlockKind kind() const { return header().kind; }
  void SetKind(BlockKind kind) { header().kind = kind; }
  std::uint32_t count() const { return header().count; }
  std::uint32_t capacity() const { return capacity_; }
  // The entries of this block change the vertex's degree by this much, relative to the base.
  std::int64_t degree_change() const { return header().degree_change; }
  // The time of the last commit that wrote this block.
  GraphTime written_at() const { return header().written_at; }

  EdgeEntry& entry(std::uint32_t i) const {
    return *reinterpret_cast<EdgeEntry*>(record_ + sizeof(Header) + std::size_t{i} * stride_);
  }
  std::byte* properties(const EdgeEntry& entry) const {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(&entry)) + sizeof(EdgeEntry);
  }

  // The valid entry for that neighbour at a time; null: the base has the edge's state.
  EdgeEntry* Find(VertexName neighbour, GraphTime at = kTimePending) const;

  // The entry for `neighbour` that the current transaction writes: its own entry if there is one,
  // else a new one. Null: the block is full. If the edge was alive its properties are copied, else
  // they are zeros.
  EdgeEntry* Put(VertexName neighbour, bool alive, bool in_base);

  // Makes room: drops entries that are visible neither at the time `seen` nor in the latest state.
  void DropInvisible(GraphTime seen);

  // Appends an entry of another block, with its properties. There must be room.
  void AppendCopy(const EdgeEntry& entry, const std::byte* properties);

  // Moves all entries into the child blocks, which must be open and empty.
  void SplitInto(std::span<EdgeBlock> below, unsigned depth);

  // Sets the commit time of the current transaction's entries.
  void SetCommitTime(GraphTime time);

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
