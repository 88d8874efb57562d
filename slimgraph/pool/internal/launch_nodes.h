// How a launcher of the user's, such as srun, starts nodes of a pool. The command that starts the
// pool listens. Each process that the launcher has started connects to it, is told which node it
// is, and says where it listens for clients.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/pool/descriptor.h"

namespace slimgraph::internal {

// What a process is told through its environment: where to connect to, and a secret.
constexpr const char* kPoolJoinVariable = "SLIMGRAPH_POOL_JOIN";

// The parts of a launcher that stand for the number of nodes to start, and for the hosts that have
// nodes of the pool already.
constexpr std::string_view kNodesOfLauncher = "{nodes}";
constexpr std::string_view kTakenOfLauncher = "{taken}";

// Starts these nodes by `pool.launcher`, and replaces their entries. The launcher stays as long as
// they do. `log`: what all of them write to standard error.
Status LaunchNodes(PoolDescriptor& pool, const std::vector<NodeId>& nodes,
                   const std::string& program, const std::string& log);

}  // namespace slimgraph::internal
