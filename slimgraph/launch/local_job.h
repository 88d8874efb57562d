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
//
// When a node goes without a word, the job ends, and the others are not given long; or it goes on
// as long as node 0 does, which then says how it has ended.
// For kGoOn, nodes call LeaveMpiexec() before they do anything else.
enum class OnDeath { kEndJob, kGoOn };
Result<int> RunLocalJob(NodeId nodes, const std::vector<std::string>& arguments,
                        OnDeath on_death = OnDeath::kEndJob);

// On a node of such a job: goes on in a process of its own. hydra, which kills all its processes
// when one of them dies, keeps one that waits. Does nothing in other jobs.
void LeaveMpiexec();

}  // namespace slimgraph
