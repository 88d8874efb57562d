// What a node of a pool runs: it keeps parts of graphs as open memory that it neither maps nor
// reads, and starts processes: loaders, and the deputies that stand for it in jobs. It sleeps
// between requests.
#pragma once

#include "slimgraph/base/result.h"

namespace slimgraph {

// The words that make the command a node of a pool: `slimgraph pool-node`.
constexpr const char* kPoolNodeCommand = "pool-node";

// Serves the pool that the environment describes. Ends the process once a client stops the pool;
// returns only an error.
Status ServePoolNode();

}  // namespace slimgraph
