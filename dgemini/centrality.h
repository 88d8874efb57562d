// Betweenness centrality (Brandes 2001): for each vertex, over all pairs of a source and another
// vertex, the share of shortest paths between them that lead through it.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources);

}  // namespace slimgraph
