// `slimgraph launch`: starts a program that uses the library on several compute nodes of this
// machine.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Starts the program `compute` times, as the compute nodes of a session of `nodes` nodes. Node 0
// starts the memory nodes when it opens the session. Returns the program's exit code: the first one
// that is not 0. If one of the processes fails, the others are ended after a second. SIGINT,
// SIGTERM and SIGHUP end all.
Result<int> LaunchProgram(NodeId nodes, NodeId compute, const std::vector<std::string>& words);

}  // namespace slimgraph
