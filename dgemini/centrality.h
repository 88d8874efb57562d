// Betweenness centrality (Brandes 2001): for each vertex, the sum over all pairs of a source and
// another vertex of the share of their shortest paths that lead through it.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

inline WorkloadNeeds CentralityNeeds(Mode mode) {
  return {
      .pull_in = mode != Mode::kPush, .pull_out = true, .vertex_bytes = 12.25, .share_bytes = 20};
}

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources);

}  // namespace slimgraph
