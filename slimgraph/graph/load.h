// Loads one node's part of a .slim file into memory that the caller has registered: first the
// sizes, then the lists. A contiguous part reads its own blocks and nothing else; a strided one
// (hash) has its lists all over the file and streams through it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

// The arcs of the part's lists, for sizing what LoadLists fills.
Result<EdgeOffset> CountArcs(const GraphSource& file, const VertexPart& part, Direction direction);

// What to fill. Weights may be left empty; otherwise they are in the file's type.
struct ListSpans {
  std::span<EdgeOffset> offsets;   // part.count + 1, from 0
  std::span<VertexId> neighbours;  // CountArcs: global dense ids
  MutableBytes weights;            // CountArcs * WeightBytes(file.weight_type()), or empty
};

// For the list of vertex `v` as it passes by on its way into memory, or for a piece of it; in any
// order, and called by several threads.
using ListWatch = std::function<void(VertexId v, std::span<const VertexId> neighbours)>;

// The lists of the part's vertices in ascending order. `threads` of 0 takes every processor;
// several nodes that load on one machine at a time should share them. Only contiguous parts are
// watched.
Status LoadLists(const GraphSource& file, const VertexPart& part, Direction direction,
                 const ListSpans& into, std::size_t threads = 0, const ListWatch& watch = {});

}  // namespace slimgraph
