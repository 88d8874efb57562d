// Runs a chunk parser over a whole text, on several threads. The first error of the file wins,
// whichever thread meets it, and the blocks come in the order of the file.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/graph/internal/line_chunks.h"
#include "slimgraph/graph/internal/raw_graph.h"

namespace slimgraph::internal {

using ChunkParser = std::function<Result<EdgeBlock>(const LineChunk&)>;

Result<std::vector<EdgeBlock>> ParseChunks(LineChunks& chunks, std::size_t threads,
                                           const ChunkParser& parse);

}  // namespace slimgraph::internal
