// Houses: a square and a triangle that share an edge.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

// The number of edge-induced houses. The graph must have been loaded with complete lists.
Result<std::uint64_t> CountHouses(MiningJob& job);

// The most memory that CountHouses takes on a compute node, besides the graph.
std::uint64_t HouseBytes(const MiningGraph& graph, const MiningOptions& options);

}  // namespace slimgraph
