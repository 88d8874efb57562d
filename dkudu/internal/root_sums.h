// Counts that a kernel sums over all roots of a graph with complete lists: triangles and 4-cycles
// at edges, and houses.
#pragma once

#include "dkudu/internal/kernel/edge_kernel.h"
#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

// The sums over all edges of the graph, on every node.
Result<EdgeSums> SumOverEdges(MiningJob& job);

// The most memory that SumOverEdges takes on a compute node, besides the graph.
std::uint64_t EdgeSumBytes(const MiningGraph& graph, const MiningOptions& options);

// The number of edge-induced houses: a square and a triangle that share an edge.
Result<std::uint64_t> CountHouses(MiningJob& job);

// The most memory that CountHouses takes on a compute node, besides the graph.
std::uint64_t HouseBytes(const MiningGraph& graph, const MiningOptions& options);

}  // namespace slimgraph::dkudu
