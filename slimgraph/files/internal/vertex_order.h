// The orders in which a file can hold the vertices of a graph (VertexOrder in convert.h).
#pragma once

#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/files/internal/raw_graph.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::internal {

// The dense ids of a graph's vertices in this order. The edges of the graph use dense ids.
std::vector<VertexId> VerticesInOrder(const RawGraph& graph, const OriginalIds& ids,
                                      VertexOrder order);

}  // namespace slimgraph::internal
