// How much memory a count of cliques gives to windows of lists, to the lists of roots, and to
// matrices.
#pragma once

#include "dkudu/mining_graph.h"

namespace slimgraph::dkudu {

// Root lists of memory nodes are fetched in pieces of this many coded bytes, so that a piece is
// still in the processor's cache when it is decoded.
constexpr std::uint64_t kFetchPieceBytes = 1 << 20;

constexpr std::uint64_t kMostRootsBytes = 256 << 10;  // in one offer

// On a compute node: for lists of other nodes twice `window_bytes` for windows, and
// `resident_bytes` for the lists of memory nodes' roots.
struct CliqueMemory {
  std::uint64_t window_bytes;
  std::uint64_t resident_bytes;
  std::uint64_t matrix_bytes;
};
CliqueMemory CliqueMemoryOf(const MiningGraph& graph, std::uint64_t cache_bytes,
                            std::uint64_t chunk_bytes);

// Whether roots wait for lists that arrive in later windows, so that each root needs its own
// matrix. They do not if one pass with one window covers the graph.
bool HasWaitingMatrices(const MiningGraph& graph, unsigned size, const CliqueMemory& memory);

// The memory for lists of other nodes: the lists of resident roots, and the windows or, in the
// windows' memory, the pieces in which root lists arrive. `once`: if all root lists can be
// resident, they are fetched once and no window contains them.
std::uint64_t ListBytes(const MiningGraph& graph, const CliqueMemory& memory, bool once);

// The memory that an engine needs to process roots that others have offered.
std::uint64_t OfferedRootBytes(const MiningGraph& graph, std::uint64_t chunk_bytes);

// The size of an offered part.
std::uint64_t PartBytes(const MiningGraph& graph, unsigned size);

}  // namespace slimgraph::dkudu
