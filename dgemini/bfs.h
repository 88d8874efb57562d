// Breadth-first search: how many edges each vertex is from the source.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

Result<VertexArray<std::uint32_t>> Bfs(Engine& engine, VertexId source);

}  // namespace slimgraph
