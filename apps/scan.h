// `slimgraph scan`: every delegate reads all the lists of its memory nodes, and every compute node
// its own, and their checksums are held against those that the owners computed when they loaded.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command ScanCommand();

}  // namespace slimgraph
