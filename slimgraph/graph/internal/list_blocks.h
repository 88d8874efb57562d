// Turns adjacency lists that arrive piece by piece into blocks of edges, for formats that store
// lists. Checks the neighbours on the way.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "slimgraph/graph/internal/raw_graph.h"

namespace slimgraph::internal {

constexpr std::size_t kListBlockArcs = 1 << 17;

// Fills the neighbours of arcs [first, first + neighbours.size()) and, if there are any, their
// weights; returns whether those weights are decimals.
using ListPiece = std::function<Result<bool>(std::uint64_t first, std::span<VertexId> neighbours,
                                             std::span<WeightBits> weights)>;

// offsets.size() - 1 vertices. Each block goes to `take`.
Status ForEachListBlock(std::span<const EdgeOffset> offsets, bool weighted, const std::string& name,
                        const ListPiece& fill, const std::function<Status(EdgeBlock)>& take);

// 0 at the front, never falling, `arcs` at the end; or why not.
Status CheckOffsets(std::span<const EdgeOffset> offsets, std::uint64_t arcs,
                    const std::string& name);

}  // namespace slimgraph::internal
