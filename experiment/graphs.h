// The graphs of an experiment: given files are inspected; otherwise a graph is generated.
#pragma once

#include <string>
#include <vector>

#include "experiment/study.h"

namespace slimgraph::experiment {

// Inspects the files with `program info`; `program` is slimgraph.
Result<std::vector<Graph>> InspectGraphs(const std::vector<std::string>& files,
                                         const std::string& program);

// Generates a graph in `folder` unless it exists there. Returns its file.
Result<std::string> MakeGraph(const std::string& folder, bool small, const std::string& program);

// Makes a store of the graph, without its weights, in `folder` unless it exists there. Returns its
// path.
Result<std::string> MakeStore(const std::string& folder, const Graph& graph,
                              const std::string& program);

}  // namespace slimgraph::experiment
