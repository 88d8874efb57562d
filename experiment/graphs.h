// The graphs of an experiment: looked at, or made where none is given.
#pragma once

#include <string>
#include <vector>

#include "experiment/study.h"

namespace slimgraph::experiment {

// `program` is slimgraph, which is asked about them.
Result<std::vector<Graph>> LookAt(const std::vector<std::string>& files,
                                  const std::string& program);

// Makes a graph in `folder`, unless it is there; its file.
Result<std::string> MakeGraph(const std::string& folder, bool small, const std::string& program);

// Makes a store of the graph, without its weights, in `folder`, unless it is there.
Result<std::string> MakeStore(const std::string& folder, const Graph& graph,
                              const std::string& program);

}  // namespace slimgraph::experiment
