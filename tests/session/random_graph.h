// A random graph as edges in memory, and what programs should compute on it, by plain serial code
// over maps.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "slimgraph/files/edge_arrays.h"
#include "slimgraph/session/graph.h"

namespace slimgraph::test {

struct RandomGraph {
  std::vector<std::uint64_t> src;
  std::vector<std::uint64_t> dst;
  std::vector<double> weights;
  bool directed = false;

  EdgeArrays arrays() const { return {src, dst, weights, directed}; }
};

// With duplicate edges and self-loops, and ids that are far apart or dense.
RandomGraph MakeRandomGraph(std::mt19937_64& random, bool directed, bool weighted);

// By original id.
template <typename T>
using ById = std::map<std::uint64_t, T>;
// The lists without duplicates and self-loops, with the smallest weight of each edge.
using Lists = ById<ById<double>>;

Lists OutLists(const RandomGraph& graph);
Lists InLists(const RandomGraph& graph);

ById<std::uint32_t> HopsFrom(const Lists& out, std::uint64_t source);
ById<double> DistancesFrom(const Lists& out, std::uint64_t source);
// Removes vertices of the lowest degree, one after the other.
ById<std::uint32_t> CoreNumbers(Lists lists);
ById<std::uint64_t> LabelsAfter(const Lists& in, std::uint64_t steps);
// The same with the labels of neighbours in both directions, as cdlp counts them.
ById<std::uint64_t> CommunitiesAfter(const RandomGraph& graph, std::uint64_t steps);
// The share of ordered pairs of neighbours, in any direction, that an arc joins.
ById<double> ClusteringOf(const RandomGraph& graph);
ById<double> RanksFrom(const Lists& out, const Lists& in, std::uint64_t source,
                       std::uint64_t iterations);
ById<double> Ranks(const Lists& out, const Lists& in, std::uint64_t iterations);
// For each vertex, the smallest id that can be reached over edges in any direction.
ById<std::uint64_t> SmallestReached(const RandomGraph& graph);
ById<std::uint64_t> TrianglesAt(const Lists& lists);
// {a, b, trussness} of each edge a < b, ascending: removes edges that are in too few triangles.
std::vector<std::array<std::uint64_t, 3>> TrussnessOf(Lists lists);

// The graph in a session.
Graph OpenRandom(Session& session, const RandomGraph& graph);

}  // namespace slimgraph::test
