// Loads one node's part of a .slim file into the caller's memory. CountArcs gives the sizes, then
// LoadLists reads the lists. A contiguous part reads only the blocks that hold its lists. The lists
// of a strided part (hash partition) are all over the file, so it streams through the whole file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {

// The number of arcs in the part's lists, for sizing the memory that LoadLists fills.
Result<EdgeOffset> CountArcs(const GraphSource& file, const VertexPart& part, Direction direction);

// The memory to fill. `weights` may be empty; otherwise weights have the file's type.
struct ListSpans {
  std::span<EdgeOffset> offsets;   // part.count + 1, from 0
  std::span<VertexId> neighbours;  // CountArcs() global dense ids
  MutableBytes weights;            // CountArcs() * WeightBytes(file.weight_type()), or empty
};

// Called while lists are loaded, with the list of vertex `v` or a piece of it. The calls come from
// several threads and in any order.
using ListObserver = std::function<void(VertexId v, std::span<const VertexId> neighbours)>;

// Loads the lists of the part's vertices in ascending order of vertices. `threads` = 0 uses every
// processor; nodes that load on the same machine at the same time should share the processors.
// `watch` is called only for contiguous parts.
Status LoadLists(const GraphSource& file, const VertexPart& part, Direction direction,
                 const ListSpans& into, std::size_t threads = 0, const ListObserver& watch = {});

}  // namespace slimgraph
