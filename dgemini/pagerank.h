// PageRank, whose ranks sum to one: what vertices without outgoing edges have is spread evenly.
#pragma once

#include <optional>

#include "dgemini/engine.h"

namespace slimgraph {

struct PageRankOptions {
  double damping = 0.85;
  std::uint64_t iterations = 20;
  // Instead of a number: until an iteration changes all ranks together by no more than this.
  std::optional<double> tolerance;
};

struct PageRanks {
  VertexArray<double> rank;
  std::uint64_t iterations = 0;
};

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options);

}  // namespace slimgraph
