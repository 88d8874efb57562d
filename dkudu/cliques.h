// Triangles and larger cliques: each is found once, at its lowest vertex, on the graph whose edges
// point from low to high places, which bounds a vertex's list by the square root of the edges.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

// Cliques of 3 .. 8 vertices. Where there are memory nodes, lists of other nodes are held if the
// cache's memory has room for all of them; else they pass by.
Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size);

}  // namespace slimgraph
