// Runs a chunk parser over a whole text, on several threads. The blocks have the order of the file.
// If several chunks have errors, the error of the first chunk in the file is returned.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/files/internal/line_chunks.h"
#include "slimgraph/files/internal/raw_graph.h"

namespace slimgraph::internal {

using ChunkParser = std::function<Result<EdgeBlock>(const LineChunk&)>;

Result<std::vector<EdgeBlock>> ParseChunks(LineChunks& chunks, std::size_t threads,
                                           const ChunkParser& parse);

}  // namespace slimgraph::internal
