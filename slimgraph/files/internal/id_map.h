// Makes the vertex ids of a graph dense: finds the vertices, and renumbers them in place in the
// edges.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/files/internal/raw_graph.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::internal {

// Afterwards all blocks are narrow, and their ids are 0 .. result.count() - 1. Dense ids follow the
// order of the original ids, unless the graph declares its ids in another order.
Result<OriginalIds> MakeIdsDense(RawGraph& graph, const std::string& name, std::size_t threads);

// Renumbers the edges of a graph with dense ids. Returns the original ids in the new order.
Result<OriginalIds> Reorder(RawGraph& graph, OriginalIds ids, VertexOrder order,
                            std::size_t threads);

}  // namespace slimgraph::internal
