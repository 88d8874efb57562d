// What a session's helper programs run, for as long as the session lasts: a memory node holds
// partitions and answers for them; a compute node makes the same built-in calls as node 0.
#pragma once

#include "slimgraph/base/result.h"

namespace slimgraph {

// The words that make the command a helper program: `slimgraph memory-node`.
constexpr const char* kMemoryNodeCommand = "memory-node";
constexpr const char* kComputeNodeCommand = "compute-node";
// Where mpiexec or srun starts a session's program: the number of compute nodes.
constexpr const char* kComputeVariable = "SLIMGRAPH_COMPUTE";

// Joins the session that the environment describes, as a memory node or as a compute node, and
// serves it until it ends. An error if the session ends otherwise; the session's program has it as
// well.
Status ServeSession(bool computes);

}  // namespace slimgraph
