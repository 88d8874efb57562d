// Turns adjacency lists that arrive in pieces into blocks of edges, for formats that store lists.
// Checks that the neighbours are vertices.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "slimgraph/files/internal/raw_graph.h"

namespace slimgraph::internal {

constexpr std::size_t kListBlockArcs = 1 << 17;

// Fills the neighbours of arcs [first, first + neighbours.size()) and, if there are any, their
// weights; returns whether those weights are decimals.
using ListPiece = std::function<Result<bool>(std::uint64_t first, std::span<VertexId> neighbours,
                                             std::span<WeightBits> weights)>;

// Reads the lists of offsets.size() - 1 vertices with `fill`, and passes each block to `take`.
Status ForEachListBlock(std::span<const EdgeOffset> offsets, bool weighted, const std::string& name,
                        const ListPiece& fill, const std::function<Status(EdgeBlock)>& take);

// Checks that the offsets begin with 0, never decrease, and end with `arcs`.
Status CheckOffsets(std::span<const EdgeOffset> offsets, std::uint64_t arcs,
                    const std::string& name);

}  // namespace slimgraph::internal
