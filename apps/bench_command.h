// `slimgraph bench …`.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command BenchFabricCommand();

}  // namespace slimgraph
