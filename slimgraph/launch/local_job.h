// Starts a job of several nodes on this machine: mpiexec runs N copies of this program, or of other
// programs, which join the job through Job::JoinFromEnvironment().
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

// The same for a job of several programs: the first nodes run the first one, and so on. An empty
// program is this one. If a program ends with an exit code of its own after it has left the job,
// the job's exit code is that one.
struct LocalProgram {
  NodeId nodes = 1;
  std::string program = {};
  std::vector<std::string> arguments = {};
};
Result<int> RunLocalPrograms(const std::vector<LocalProgram>& programs,
                             OnDeath on_death = OnDeath::kEndJob);

// Called on a node of a local job: continues in a forked process. hydra kills all its processes
// when one of them dies, so its own child only waits for the fork. Does nothing in other jobs.
void LeaveMpiexec();

}  // namespace slimgraph
