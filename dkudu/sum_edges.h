// Runs the edge kernel over the whole graph.
#pragma once

#include "dkudu/kernel/edge_kernel.h"
#include "dkudu/mining_job.h"

namespace slimgraph {

// The sums over all edges of the graph, on every node. `at_vertices`, if not null, has a number for
// each dense id, to which this node adds the triangles at the edges that it has seen: over all
// nodes they come to twice the triangles at the vertex.
Result<EdgeSums> SumOverEdges(MiningJob& job, std::uint64_t* at_vertices = nullptr);

}  // namespace slimgraph
