// The vertex programs of D-Gemini, and the memory that each needs. They are collective.
#pragma once

#include <limits>
#include <optional>

#include "dgemini/engine.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::dgemini {

// ---- breadth-first search
// The distance of each vertex from the source, in edges, if it is at most `most_depth`.
constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

inline WorkloadNeeds BfsNeeds(Mode mode) {
  return {.pull_in = mode != Mode::kPush, .vertex_bytes = 4.25, .share_bytes = 8};
}

Result<VertexArray<std::uint32_t>> Bfs(Engine& engine, VertexId source,
                                       std::uint64_t most_depth = kUnreached);

// ---- shortest paths
// From one source with non-negative weights, by delta-stepping (Meyer and Sanders 2003).
// shortest_paths.h chooses the types by the graph.
template <typename Distance>
constexpr Distance kUnreachable = std::numeric_limits<Distance>::max();

// Weight must be the graph's weight type. Distance must be able to hold the length of any path, and
// twice `widest`. `delta` is the width of a bucket. On several nodes, buckets become wider where
// steps have little to do, up to `widest`.
template <typename Weight, typename Distance>
Result<VertexArray<Distance>> Sssp(Engine& engine, VertexId source, Distance delta,
                                   Distance widest);

// ---- PageRank
// Ranks sum to one: the ranks of vertices without outgoing edges are spread evenly over all
// vertices. With a source (personalised PageRank), all that edges do not give goes to the source
// instead, where the whole rank is at first. Each vertex has values for what it gives now, what it
// gives next, and its degree. Push mode needs one more value, for what it receives.
//
// kFloat: what vertices give has 4 bytes instead of 8, in memory and between nodes, and so have the
// sums that nodes send. Ranks have a relative error below 1e-6.
enum class Precision { kDouble, kFloat };

inline WorkloadNeeds PageRankNeeds(Mode mode, Precision precision = Precision::kDouble) {
  const bool pushes = mode == Mode::kPush;
  return {.pull_in = !pushes,
          .vertex_bytes = precision == Precision::kFloat ? 4.25 : 8.25,
          .share_bytes = pushes ? 20.0 : 12.0};
}

struct PageRankOptions {
  double damping = 0.85;
  std::uint64_t iterations = 20;
  std::optional<VertexId> source = {};
  // If set, iterates until the sum of all changes of ranks in an iteration is at most this, instead
  // of a fixed number of iterations.
  std::optional<double> tolerance = {};
  std::uint64_t most_iterations = std::numeric_limits<std::uint64_t>::max();  // with a tolerance
  Precision precision = Precision::kDouble;
};

struct PageRanks {
  VertexArray<double> rank;
  std::uint64_t iterations = 0;
  double change = 0;  // with a tolerance: the sum of all changes in the last iteration
};

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options);

// ---- connected components
// In a directed graph, the weakly connected ones. The result for each vertex is the smallest vertex
// of its component.
inline WorkloadNeeds ComponentsNeeds() {
  return {.pull_out = true, .vertex_bytes = 8.625, .share_bytes = 0};
}

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed);

// ---- betweenness centrality
// Brandes 2001: for each vertex, the sum over all pairs of a source and another vertex of the share
// of their shortest paths that lead through it.
inline WorkloadNeeds CentralityNeeds(Mode mode) {
  return {
      .pull_in = mode != Mode::kPush, .pull_out = true, .vertex_bytes = 12.25, .share_bytes = 20};
}

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources);

// ---- communities by label propagation
// As LDBC Graphalytics defines it. Each vertex begins with its original id as its label. In each
// iteration, all vertices at once take the most frequent label of their neighbours, and the
// smallest of several such labels. A neighbour that is in a list twice counts twice. The graph must
// be undirected; a directed one is read as BothDirections.
WorkloadNeeds LabelsNeeds(Mode mode);

struct Labels {
  VertexArray<VertexId> label;   // a label's position in the order of original ids
  std::uint64_t iterations = 0;  // fewer than asked for if labels no longer change
};

Result<Labels> PropagateLabels(Engine& engine, const OriginalIds& ids, std::uint64_t iterations);

// ---- core numbers
// The largest k such that the vertex is in the k-core: the largest subgraph in which all vertices
// have at least k neighbours. The graph must be undirected; a directed one is read as
// BothDirections. `simple`: no list has equal neighbours or its own vertex. Otherwise these are
// skipped.
WorkloadNeeds CoresNeeds(Mode mode);

Result<VertexArray<std::uint32_t>> CoreNumbers(Engine& engine, bool simple);

// ---- a maximal independent set
// No edge joins two of its vertices, and every other vertex has a neighbour in it. 1 for a vertex
// of the set, 0 for all others. The set depends on the seed, the ids and the edges alone. The graph
// must be undirected; a directed one is read as BothDirections. All steps pull.
WorkloadNeeds IndependentSetNeeds();

// The place of the vertex `id` in the order in which vertices are considered.
std::uint32_t PlaceInOrder(std::uint64_t id, std::uint64_t seed);

Result<VertexArray<std::uint8_t>> IndependentSet(Engine& engine, const OriginalIds& ids,
                                                 std::uint64_t seed);

}  // namespace slimgraph::dgemini
