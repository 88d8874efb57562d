// A job that uses a graph of a standing pool.
#pragma once

#include <string>
#include <vector>

#include "apps/job/job_runner.h"

namespace slimgraph {

// RunJob() for options.standing. This process is node 0, which makes the job, or one of the nodes
// that it has had started.
int RunAttachedJob(const std::string& command, const JobOptions& options,
                   const std::vector<std::string>& arguments, const Application& application);

}  // namespace slimgraph
