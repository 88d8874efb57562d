// From the ids that a file uses to dense ones: finds which vertices there are and renumbers the
// edges in place, in ascending order of the original ids.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/graph/internal/raw_graph.h"
#include "slimgraph/graph/original_ids.h"

namespace slimgraph::internal {

// Afterwards all blocks are narrow and speak of 0 .. result.count() - 1.
Result<OriginalIds> MakeIdsDense(RawGraph& graph, const std::string& name, std::size_t threads);

}  // namespace slimgraph::internal
