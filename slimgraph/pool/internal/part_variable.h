// The environment variables of a deputy. The one by which a pool's node hands its part of a graph
// to it: "GRAPH FD FD…", then a line end and the facts that the loader has told.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/unique_fd.h"

namespace slimgraph::internal {

constexpr const char* kPartVariable = "SLIMGRAPH_POOL_PART";
// It is set for the deputies of readers (sharing.h).
constexpr const char* kConfinedVariable = "SLIMGRAPH_POOL_CONFINED";

std::string PartText(const std::string& graph, const std::vector<UniqueFd>& memories,
                     const std::string& facts);

}  // namespace slimgraph::internal
