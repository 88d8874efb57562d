// PageRank. Ranks sum to one: the ranks of vertices without outgoing edges are spread evenly over
// all vertices.
#pragma once

#include <optional>

#include "dgemini/engine.h"

namespace slimgraph {

// Each vertex has values for what it gives now, what it gives next, and its degree. Push mode needs
// one more value, for what it receives.
inline WorkloadNeeds PageRankNeeds(Mode mode) {
  const bool pushes = mode == Mode::kPush;
  return {.pull_in = !pushes, .vertex_bytes = 8.25, .share_bytes = pushes ? 20.0 : 12.0};
}

struct PageRankOptions {
  double damping = 0.85;
  std::uint64_t iterations = 20;
  // If set, iterates until the sum of all changes of ranks in an iteration is at most this, instead
  // of a fixed number of iterations.
  std::optional<double> tolerance;
};

struct PageRanks {
  VertexArray<double> rank;
  std::uint64_t iterations = 0;
};

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options);

}  // namespace slimgraph
