// Where an experiment ran: facts that a reader needs to judge its figures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

// Processor, memory, kernel, compiler, version and commit.
std::vector<std::pair<std::string, std::string>> MachineFacts();

// The number of processors that this process may use.
double Processors();

// A checksum of the program's file, which differs between builds.
Result<std::string> BuildStamp(const std::string& program);

}  // namespace slimgraph::experiment
