// Cliques where the lists of all other nodes fit into memory: they cross once, and any compute node
// can take roots of any other.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

// Those that this node has counted; 0 on a memory node.
Result<WideCount> CountHeldCliques(MiningJob& job, unsigned size);

}  // namespace slimgraph
