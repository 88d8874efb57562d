// Connected components; in a directed graph, the weakly connected ones. The result for each vertex
// is the smallest vertex of its component.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

inline WorkloadNeeds ComponentsNeeds() {
  return {.pull_out = true, .vertex_bytes = 8.5, .share_bytes = 0};
}

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed);

}  // namespace slimgraph
