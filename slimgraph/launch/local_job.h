// Starts a job of several nodes on this machine: mpiexec runs N copies of this program, which join
// the job through Job::JoinFromEnvironment().
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

// Runs this program with `arguments` on `nodes` local nodes, and returns the job's exit code. The
// nodes write to our standard output and error directly. SIGINT and SIGTERM end them all. When this
// returns, no process of the job is left.
//
// What happens when a node ends without a report. kEndJob: the job ends, and the other nodes are
// killed after one second. kGoOn: the job continues for as long as node 0 does, whose exit code
// counts. For kGoOn, nodes must call LeaveMpiexec() before anything else.
enum class OnDeath { kEndJob, kGoOn };
Result<int> RunLocalJob(NodeId nodes, const std::vector<std::string>& arguments,
                        OnDeath on_death = OnDeath::kEndJob);

// Called on a node of a local job: continues in a forked process. hydra kills all its processes
// when one of them dies, so its own child only waits for the fork. Does nothing in other jobs.
void LeaveMpiexec();

}  // namespace slimgraph
