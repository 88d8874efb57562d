// Cliques where the lists of other nodes are not held: they pass by in windows of
// ascending places and are joined with all roots of this node that have them as neighbours, so that
// each crosses once where the lists of memory nodes' roots fit. Nobody takes another's roots.
#pragma once

#include "dkudu/mining_job.h"

namespace slimgraph {

// Those that this node has counted; 0 on a memory node.
Result<WideCount> CountStreamedCliques(MiningJob& job, unsigned size, std::uint64_t chunk_bytes);

}  // namespace slimgraph
