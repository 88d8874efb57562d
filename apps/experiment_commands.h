// The entries of AllCommands() about runs: whole studies of them, and what has changed in between.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command CompareCommand();
Command ExperimentCommand();

}  // namespace slimgraph
