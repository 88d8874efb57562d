// The basic types of a transactional graph: ids, times, and the records of its tables. README.md of
// txnlayer/graph has the design.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/files/weights.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

// A vertex as the user names it.
using VertexName = std::uint64_t;
constexpr unsigned kVertexNameBits = 40;
constexpr VertexName kMaxVertexName = (VertexName{1} << kVertexNameBits) - 1;

constexpr std::uint32_t kMaxPropertyBytes = 256;

// Which properties vertices and edges have, in bytes, and whether edges are directed. The weight of
// an edge, if edges have weights, is at the beginning of its properties.
struct GraphShape {
  std::uint32_t vertex_bytes = 0;
  std::uint32_t edge_bytes = 0;
  bool directed = false;
  WeightType weights = WeightType::kNone;

  std::uint32_t weight_bytes() const { return static_cast<std::uint32_t>(WeightBytes(weights)); }
  // The properties of an edge without its weight.
  std::uint32_t extra_bytes() const { return edge_bytes - weight_bytes(); }
};

// When an edge or a vertex was last written: the hybrid time of the commit (hybrid_clock.h).
using GraphTime = std::uint64_t;
// The time of an entry whose transaction has not committed yet.
constexpr GraphTime kTimePending = ~GraphTime{0};
// The latest time of a commit.
constexpr GraphTime kTimeLast = kTimePending - 1;

// --- The tree of blocks of a vertex. A block is split into kFanOut blocks by the next bits of the
// neighbour's hash. Blocks are numbered like a heap: the children of block i are kFanOut * i + 1 …
// kFanOut * i + kFanOut.
constexpr unsigned kFanOutBits = 3;
constexpr std::uint32_t kFanOut = 1U << kFanOutBits;
constexpr unsigned kMaxDepth = 7;
constexpr unsigned kBlockBits = 64 - kVertexNameBits;

constexpr std::uint32_t FirstBlockAt(unsigned depth) {
  return ((1U << (kFanOutBits * depth)) - 1) / (kFanOut - 1);
}
constexpr std::uint32_t BlocksAt(unsigned depth) { return 1U << (kFanOutBits * depth); }
static_assert(FirstBlockAt(kMaxDepth + 1) <= std::uint32_t{1} << kBlockBits);

// The block at that depth that has the edge to `neighbour`.
inline std::uint32_t BlockOf(VertexName neighbour, unsigned depth) {
  if (depth == 0) return 0;
  const auto prefix =
      static_cast<std::uint32_t>(Mix(neighbour) >> (64 - std::uint64_t{kFanOutBits} * depth));
  return FirstBlockAt(depth) + prefix;
}

constexpr Key BlockKey(VertexName vertex, std::uint32_t block) {
  return (vertex << kBlockBits) | block;
}
constexpr Key VertexKey(VertexName vertex) { return vertex << kBlockBits; }
constexpr VertexName VertexOfKey(Key key) { return key >> kBlockBits; }
constexpr std::uint32_t BlockOfKey(Key key) {
  return static_cast<std::uint32_t>(key & ((Key{1} << kBlockBits) - 1));
}

// --- The record of a vertex. If it was never written, the base has the vertex's state.
struct VertexRecord {
  std::uint32_t alive;
  std::uint32_t alive_before;  // as the last snapshot saw it, if `alive` changed since
  GraphTime time;
  GraphTime since;  // when `alive` changed last; 0: as in the base
  // The properties follow.

  bool AliveAt(GraphTime at) const { return (since <= at ? alive : alive_before) != 0; }
};

inline std::uint32_t VertexRecordBytes(const GraphShape& shape) {
  return static_cast<std::uint32_t>(sizeof(VertexRecord)) + shape.vertex_bytes;
}

// The tables of a graph, in an engine without other tables.
constexpr TableId kVertexTable = 0;
constexpr TableId kBlockTable = 1;
constexpr std::size_t kNumGraphTables = 2;

// The depth at which the tree of a vertex begins, by the length of its list in the base. So
// transactions on different edges of a hub rarely conflict from the beginning.
constexpr unsigned FirstDepth(EdgeOffset base_length) {
  unsigned depth = 0;
  for (EdgeOffset most = 512; base_length > most && depth < 4; most *= 16) ++depth;
  return depth;
}

constexpr std::uint32_t WholeWords(std::uint32_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace slimgraph::txn
