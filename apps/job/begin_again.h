// A job on a pool with copies begins again if a node of the pool dies: another node has its parts.
#pragma once

#include <string>
#include <vector>

namespace slimgraph {

// Replaces this process, node 0 of the job, by a new one with the same command line and process
// id, after a line with the reason. Returns if a result has been written to standard output, or if
// the job has begun again too often. Any thread may call it.
void BeginAgain(const std::string& reason, const std::vector<std::string>& arguments);

// How often this job has begun again.
int TimesBegunAgain();

}  // namespace slimgraph
