// Triangles and larger cliques: each is found once, at its lowest vertex, on the graph whose edges
// point from low to high places, which bounds a vertex's list by the square root of the edges.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

constexpr unsigned kMinClique = 3;
constexpr unsigned kMaxClique = 8;

// Cliques of 3 .. 8 vertices. Lists of other nodes pass by in windows of ascending places and are
// joined with all roots of this node that have them as neighbours, so that each crosses once where
// the lists of memory nodes' roots fit into the cache's memory.
Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size);

// The least memory of a thread for it: for the matrices of the largest roots, one of its own and,
// while lists pass by, one from each home.
std::uint64_t LeastCliqueBytes(const MiningGraph& graph, unsigned size);

}  // namespace slimgraph
