// Starts a job of several nodes on this machine: mpiexec with N copies of this very program, which
// find their way by Job::JoinFromEnvironment().
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Runs this program with `arguments` on `nodes` local nodes, and returns its exit code. The nodes
// write to our standard output and error themselves. SIGINT and SIGTERM end them all. When this
// returns, no process of the job is left.
Result<int> RunLocalJob(NodeId nodes, const std::vector<std::string>& arguments);

}  // namespace slimgraph
