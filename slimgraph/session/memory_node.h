// What the memory-node program runs: a node that holds partitions and answers for them, for as long
// as a session lasts.
#pragma once

#include "slimgraph/base/result.h"

namespace slimgraph {

// The word that makes the memory-node program one: `slimgraph memory-node`.
constexpr const char* kMemoryNodeCommand = "memory-node";
// Where mpiexec or srun starts a session's program: the number of compute nodes.
constexpr const char* kComputeVariable = "SLIMGRAPH_COMPUTE";

// Joins the session that the environment describes, and serves it until it ends. An error if the
// session ends otherwise; the session's program has it as well.
Status ServeSession();

}  // namespace slimgraph
