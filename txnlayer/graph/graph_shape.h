// What a transactional graph is made of: ids, times, and the records of its tables. README.md has
// the design.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/graph/weights.h"
#include "txnlayer/store/hash.h"
#include "txnlayer/store/table.h"

namespace slimgraph::txn {

// As the user calls vertices.
using VertexName = std::uint64_t;
constexpr unsigned kVertexNameBits = 40;
constexpr VertexName kMaxVertexName = (VertexName{1} << kVertexNameBits) - 1;

constexpr std::uint32_t kMaxPropertyBytes = 256;

// How many bytes every vertex and every edge carries beside its ids, and whether edges go from one
// vertex to the other. Where they have weights, these are the first of their bytes.
struct GraphShape {
  std::uint32_t vertex_bytes = 0;
  std::uint32_t edge_bytes = 0;
  bool directed = false;
  WeightType weights = WeightType::kNone;

  std::uint32_t weight_bytes() const { return static_cast<std::uint32_t>(WeightBytes(weights)); }
  // Of an edge, without its weight.
  std::uint32_t extra_bytes() const { return edge_bytes - weight_bytes(); }
};

// When an edge or a vertex was last written: the hybrid time of the commit (hybrid_clock.h).
using GraphTime = std::uint64_t;
// Of what the transaction at hand has written, until it commits.
constexpr GraphTime kTimePending = ~GraphTime{0};
// The latest that there can be.
constexpr GraphTime kTimeLast = kTimePending - 1;

// --- the tree of blocks of a vertex: each block is split into kFanOut by the next bits of the
// neighbour's hash. Blocks are numbered like a heap: that of number i has kFanOut * i + 1 … below.
constexpr unsigned kFanOutBits = 3;
constexpr std::uint32_t kFanOut = 1U << kFanOutBits;
constexpr unsigned kMaxDepth = 7;
constexpr unsigned kBlockBits = 64 - kVertexNameBits;

constexpr std::uint32_t FirstBlockAt(unsigned depth) {
  return ((1U << (kFanOutBits * depth)) - 1) / (kFanOut - 1);
}
constexpr std::uint32_t BlocksAt(unsigned depth) { return 1U << (kFanOutBits * depth); }
static_assert(FirstBlockAt(kMaxDepth + 1) <= std::uint32_t{1} << kBlockBits);

// The block of that depth to which an edge to `neighbour` belongs.
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

// --- the record of a vertex. One that was never written says what the base says.
struct VertexRecord {
  std::uint32_t alive;
  std::uint32_t alive_before;  // at the time of the snapshot that was read when that changed
  GraphTime time;
  GraphTime since;  // when it became alive, or dead; 0: it was so in the base
  // The properties follow.

  bool AliveAt(GraphTime at) const { return (since <= at ? alive : alive_before) != 0; }
};

// How deep the blocks of a vertex begin that has so many neighbours in the base, so that
// transactions on different edges of it meet rarely from the beginning.
constexpr unsigned FirstDepth(EdgeOffset base_length) {
  unsigned depth = 0;
  for (EdgeOffset most = 512; base_length > most && depth < 4; most *= 16) ++depth;
  return depth;
}

constexpr std::uint32_t WholeWords(std::uint32_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace slimgraph::txn
