// The commands on graph files.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command ConvertCommand();
Command InfoCommand();
Command GenCommand();

}  // namespace slimgraph
