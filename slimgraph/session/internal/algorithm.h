// The built-in vertex programs, as every compute node of a session runs them. Compute nodes that
// follow node 0 get the program and its arguments in the call.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "dgemini/programs.h"
#include "slimgraph/session/internal/open_graph.h"

namespace slimgraph::internal {

struct Algorithm {
  enum What : std::uint32_t {
    kHops,
    kPaths,
    kRanks,
    kComponents,
    kCentrality,
    kLabels,
    kCores,
    kSet
  };
  struct Arguments {
    What what = kHops;
    std::uint64_t seed = 1;                     // kSet
    std::uint64_t steps = dgemini::kUnreached;  // kHops: the most hops; kLabels: iterations
    VertexId source = 0;                        // kHops, kPaths
    dgemini::PageRankOptions ranks = {};        // kRanks
  };
  Arguments arguments;
  std::vector<VertexId> sources = {};  // kCentrality

  std::string ToBytes() const;
  static Algorithm FromBytes(std::string_view bytes);

  // Whether it reads a directed graph as BothDirections.
  bool IgnoresDirections() const { return arguments.what >= kLabels; }
  // The lists that it needs; without the cluster.
  VertexRequest Needs(bool directed) const;
};

using AlgorithmValues =
    std::variant<dgemini::VertexArray<std::uint8_t>, dgemini::VertexArray<std::uint32_t>,
                 dgemini::VertexArray<std::uint64_t>, dgemini::VertexArray<double>>;

struct AlgorithmFigures {
  double change = 0;  // after kRanks with a tolerance: all changes in the last iteration
  std::uint64_t traffic_bytes = 0;  // of the compute nodes together
};
// Collective over the compute nodes, on lists that suffice. The values are complete on node 0.
Result<AlgorithmValues> RunAlgorithm(OpenGraph& graph, const Algorithm& algorithm,
                                     AlgorithmFigures* figures = nullptr);

}  // namespace slimgraph::internal
