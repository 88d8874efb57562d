// The commands that run vertex programs: bfs, sssp, pagerank, cc, bc.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command BfsCommand();
Command SsspCommand();
Command PageRankCommand();
Command ComponentsCommand();
Command CentralityCommand();

}  // namespace slimgraph
