// Where an experiment was made: facts that a reader needs to judge its figures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

// Processor, memory, kernel, compiler, version and commit.
std::vector<std::pair<std::string, std::string>> MachineFacts();

// How many processors this process may use.
double Processors();

// Tells one build of this very program from another.
Result<std::string> BuildStamp(const std::string& program);

}  // namespace slimgraph::experiment
