// This test program, and the processes that it has started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace slimgraph::test {

std::string SelfPath();
std::vector<pid_t> ChildProcesses();

}  // namespace slimgraph::test
