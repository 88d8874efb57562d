// The environment variables of a deputy. The one by which a pool's node hands its part of a graph
// to it: "GRAPH FD FD…", then a line end and the facts that the loader has told.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"

namespace slimgraph::internal {

constexpr const char* kPartVariable = "SLIMGRAPH_POOL_PART";
// For the deputies of readers (sharing.h): the graph's file.
constexpr const char* kConfinedVariable = "SLIMGRAPH_POOL_CONFINED";

std::string PartText(const std::string& graph, const std::vector<UniqueFd>& memories,
                     const std::string& facts);

}  // namespace slimgraph::internal
