// Counts or visits the matches of a pattern in an undirected graph. All functions are collective
// over the compute nodes.
//
//   auto house = slimgraph::Pattern::Find("house");
//   auto count = slimgraph::Count(graph, *house);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dkudu/plan/pattern.h"
#include "slimgraph/base/result.h"
#include "slimgraph/session/graph.h"
#include "slimgraph/session/vertex_values.h"

namespace slimgraph {

// A small connected graph to search for, of 2 to 8 vertices. Pattern::Find("house") knows it by
// name or reads a file of edges; Pattern::Make(edges, name) makes it from edges.
using dkudu::Pattern;

struct MatchOptions {
  // Whether the graph may have edges between a match's vertices that the pattern does not have:
  // false: it may (matches of edges); true: it may not (matches induced by vertices).
  bool induced = false;
  std::uint64_t chunk_bytes = 64 << 20;  // memory of each thread for matches under way
  std::uint64_t cache_bytes = 64 << 20;  // memory of each compute node for lists of other nodes
};

// The number of matches in the whole graph, on every compute node. Matches that differ only by a
// symmetry of the pattern count once.
Result<std::uint64_t> Count(Graph& graph, const Pattern& pattern, const MatchOptions& options = {});

// Calls visit(thread, vertices) once for each match, with original ids in the ascending order of
// the pattern's vertices. It is called by all threads (thread < SessionOptions.threads) of the
// compute node that has found the match, and must not throw. It returns false to end the search of
// its thread. Returns the number of visited matches of all nodes.
using MatchVisit = std::function<bool(std::uint32_t thread, std::span<const std::uint64_t>)>;
Result<std::uint64_t> ForEachMatch(Graph& graph, const Pattern& pattern, const MatchVisit& visit,
                                   const MatchOptions& options = {});

// For each vertex: how many neighbours it has, how many triangles it is part of, and which share of
// its pairs of neighbours is adjacent (0 without pairs).
struct LocalCount {
  std::uint64_t degree = 0;
  std::uint64_t triangles = 0;
  double clustering = 0;
};
Result<VertexValues<LocalCount>> LocalCounts(Graph& graph, const MatchOptions& options = {});

// The trussness of an edge is the largest k such that the edge is in the k-truss: the largest
// subgraph in which every edge is in at least k - 2 triangles. Without triangles it is 2.
struct EdgeTrussness {
  std::uint64_t a = 0;  // original ids, a < b
  std::uint64_t b = 0;
  std::uint32_t trussness = 0;
};
// Of every edge, by ascending a, then b. On node 0; empty on all others.
Result<std::vector<EdgeTrussness>> Trussness(Graph& graph, const MatchOptions& options = {});

}  // namespace slimgraph
