// Breadth-first search: the distance of each vertex from the source, in edges.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

inline WorkloadNeeds BfsNeeds(Mode mode) {
  return {.pull_in = mode != Mode::kPush, .vertex_bytes = 4.25, .share_bytes = 8};
}

Result<VertexArray<std::uint32_t>> Bfs(Engine& engine, VertexId source);

}  // namespace slimgraph
