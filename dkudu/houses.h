// Houses: a square and a triangle that share an edge.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

// Edge-induced. The graph has all of each list.
Result<std::uint64_t> CountHouses(MiningJob& job);

}  // namespace slimgraph
