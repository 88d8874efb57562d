// The graph that a command reads: a .slim file, or a graph in another format, which is converted
// once.
#pragma once

#include <optional>
#include <string>

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "slimgraph/files/convert.h"

namespace slimgraph {

struct GraphInput {
  // Patterns are mined in undirected graphs. So an edge list that does not say whether it is
  // directed is undirected, and a directed graph becomes undirected.
  bool must_be_undirected = false;
  bool may_stand = false;             // in a pool
  ConvertOptions how;                 // in: what the user has named
  std::string path;                   // after ResolveGraph: the .slim file
  std::optional<PoolGraph> standing;  // after ResolveGraph, instead of `path`: a pool's graph
};

// Declares GRAPH, --directed (unless it must be undirected), --undirected, --symmetrize and --from.
void DeclareGraph(Options& options, GraphInput& graph);

// Finds or makes the .slim file, and says on standard error if it has made it. Every process of a
// job calls it, before the job begins; one of those on a host converts.
Status ResolveGraph(GraphInput& graph);

}  // namespace slimgraph
