// The same algorithms in simple serial code over a whole graph. Results of the engine are verified
// against them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dgemini/programs.h"
#include "slimgraph/files/csr.h"

namespace slimgraph::dgemini::serial {

// The depths; kUnreached for vertices without a path from the source.
std::vector<std::uint32_t> Bfs(const Csr& graph, VertexId source);

// The distances; infinity for vertices without a path from the source.
std::vector<double> Sssp(const Csr& graph, VertexId source);

struct Ranks {
  std::vector<double> rank;
  std::uint64_t iterations = 0;
};
Ranks PageRank(const Csr& graph, const PageRankOptions& options);

// The smallest vertex of each vertex's component, ignoring directions.
std::vector<VertexId> Components(const Csr& graph);

// The label of each vertex as an original id. In a directed graph, neighbours in both directions
// count.
std::vector<std::uint64_t> PropagateLabels(const Csr& out_lists, bool directed,
                                           const OriginalIds& ids, std::uint64_t iterations);

// The core number of each vertex, ignoring directions, self-loops and duplicate edges.
std::vector<std::uint32_t> CoreNumbers(const Csr& out_lists, bool directed);

// The set of dgemini::IndependentSet. In a directed graph, neighbours in both directions count.
std::vector<std::uint8_t> IndependentSet(const Csr& out_lists, const OriginalIds& ids,
                                         std::uint64_t seed);

std::vector<double> Centrality(const Csr& graph, std::span<const VertexId> sources);

}  // namespace slimgraph::dgemini::serial
