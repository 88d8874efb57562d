// The vertex programs that come with SlimGraph. All functions are collective over the compute
// nodes; results arrive at node 0. Vertices are named by their original ids.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/session/graph.h"
#include "slimgraph/session/vertex_values.h"

namespace slimgraph {

// The value of a vertex that no path leads to.
constexpr std::uint32_t kNoHops = std::numeric_limits<std::uint32_t>::max();

// For each vertex, the number of edges on a shortest path from the source.
Result<VertexValues<std::uint32_t>> BreadthFirstSearch(Graph& graph, std::uint64_t source);

// For each vertex, the length of a shortest path from the source; infinity without a path. The
// weights must not be negative.
Result<VertexValues<double>> ShortestPaths(Graph& graph, std::uint64_t source);

// For each number of hops from 0 on, how many vertices are that far from the source, up to
// `most_hops`. On node 0; empty on all others.
Result<std::vector<std::uint64_t>> HopCounts(Graph& graph, std::uint64_t source,
                                             std::uint64_t most_hops);

struct PageRankParameters {
  double damping = 0.85;  // 0 to 1
  std::uint64_t iterations = 20;
  // If set, instead of `iterations`: iterates until the sum of all changes of an iteration is at
  // most this, at least 1e-14.
  std::optional<double> tolerance = {};
  // With a tolerance: after so many iterations it is an error that the ranks still change by more.
  std::optional<std::uint64_t> most_iterations = {};
  // If set, the ranks are personalised: all that edges do not give goes to this vertex, where the
  // whole rank is at first.
  std::optional<std::uint64_t> source = {};
};
// Ranks sum to one.
Result<VertexValues<double>> PageRank(Graph& graph, const PageRankParameters& parameters = {});

// For each vertex, the same number as for all others of its connected component (in a directed
// graph: weakly connected): the original id of one of them.
Result<VertexValues<std::uint64_t>> ConnectedComponents(Graph& graph);

// Betweenness centrality from these sources: for each vertex, the sum over all pairs of a source
// and another vertex of the share of their shortest paths that lead through it.
Result<VertexValues<double>> BetweennessCentrality(Graph& graph,
                                                   std::span<const std::uint64_t> sources);

// Communities by label propagation, as LDBC Graphalytics defines it. Each vertex begins with its id
// as its label. In each iteration all vertices at once take the most frequent label of their
// neighbours, and the smallest of several such labels. In a directed graph, a neighbour with edges
// both ways counts twice.
Result<VertexValues<std::uint64_t>> CommunityLabels(Graph& graph, std::uint64_t iterations = 10);

// For each vertex, the largest k such that it is in the k-core: the largest subgraph in which all
// vertices have at least k different neighbours. Directions of edges do not count.
Result<VertexValues<std::uint32_t>> CoreNumbers(Graph& graph);

// A maximal independent set: no edge joins two of its vertices, and every other vertex has a
// neighbour in it. 1 for a vertex of the set, 0 for all others. The set depends on the seed, the
// ids and the edges alone. Directions of edges do not count.
Result<VertexValues<std::uint8_t>> MaximalIndependentSet(Graph& graph, std::uint64_t seed = 1);

// For each vertex, the share of the ordered pairs of its neighbours that an edge joins, as LDBC
// Graphalytics defines it. In a directed graph, the neighbours are those in either direction.
// patterns.h has the counts in undirected graphs.
Result<VertexValues<double>> LocalClustering(Graph& graph);

}  // namespace slimgraph
