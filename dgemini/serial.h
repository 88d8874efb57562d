// The same questions answered by one thread over a whole graph, with the plainest code there is:
// what results of the engine are held against.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dgemini/pagerank.h"
#include "slimgraph/graph/csr.h"

namespace slimgraph::serial {

// kUnreached where no path leads.
std::vector<std::uint32_t> Bfs(const Csr& graph, VertexId source);

// Infinity where no path leads.
std::vector<double> Sssp(const Csr& graph, VertexId source);

struct Ranks {
  std::vector<double> rank;
  std::uint64_t iterations = 0;
};
Ranks PageRank(const Csr& graph, const PageRankOptions& options);

// The smallest vertex of each one's component; directions do not count.
std::vector<VertexId> Components(const Csr& graph);

std::vector<double> Centrality(const Csr& graph, std::span<const VertexId> sources);

}  // namespace slimgraph::serial
