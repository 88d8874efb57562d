// The lab, a Python package (python/slimgraph/lab), carries out experiments and compares runs. The
// commands here only parse its options.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {

// The path of this program's file.
Result<std::string> ThisProgram();

// Replaces this process by `python3 -m slimgraph.lab REQUEST`, so that signals, exit codes and
// output are those of the lab. Finds the package in the source tree that contains this program, in
// the prefix where it is installed, or beside it in a Python environment. Returns only an error.
Error BecomeLab(const Report& request);

}  // namespace slimgraph
