// What a node of a pool runs, and what starts one on another host. A node keeps parts of graphs as
// open memory that it neither maps nor reads, and starts processes: loaders, and the deputies that
// stand for it in jobs. It sleeps between requests.
#pragma once

#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

// The words that make the command a node of a pool: `slimgraph pool-node`.
constexpr const char* kPoolNodeCommand = "pool-node";

// The words that make it start or end a node on the host where it runs: `slimgraph pool-host`.
constexpr const char* kPoolHostCommand = "pool-host";

// The words that make a process of a launcher a node: `slimgraph pool-join`.
constexpr const char* kPoolJoinCommand = "pool-join";

// Serves the pool that the environment describes. Ends the process once a client stops the pool;
// returns only an error.
Status ServePoolNode();

// The same for the pool whose start the launcher serves.
Status JoinPool();

// Does what the standard input of `slimgraph pool-host` asks. Returns the answer, to be printed.
Result<std::string> ServePoolHost(const std::string& request);

}  // namespace slimgraph
