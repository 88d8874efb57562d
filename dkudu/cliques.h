// Triangles and larger cliques. Each clique is found once, at its lowest vertex, in the
// degree-oriented graph: its edges point from low to high rank, so no list is longer than about the
// square root of the number of edges.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

constexpr unsigned kMinClique = 3;
constexpr unsigned kMaxClique = 8;

// Counts cliques of 3 .. 8 vertices. Lists of other nodes arrive in windows of ascending ranks and
// are joined with every root of this node that has their vertices as neighbours. Each list crosses
// the fabric once if the lists of the memory nodes' roots fit into the cache's memory.
Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size);

// The least memory that a thread needs: one matrix for its own root and, while lists arrive, one
// for a root from each home; all of the largest size.
std::uint64_t LeastCliqueBytes(const MiningGraph& graph, unsigned size);

// The most memory that CountCliques takes on a compute node, besides the graph.
std::uint64_t CliqueBytes(const MiningGraph& graph, const MiningOptions& options, unsigned size);

}  // namespace slimgraph::dkudu
