// Whole graphs in memory: edges as they are drawn on paper, and sorted adjacency lists. For tests,
// serial oracles and small tools; engines load their part with load.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph {

struct EdgeList {
  struct Edge {
    VertexId src;
    VertexId dst;
  };
  VertexId vertices = 0;  // ids are 0 .. vertices - 1
  std::vector<Edge> edges;
  std::vector<double> weights;  // empty, or one for each edge; stored as integers if all are
  bool directed = false;
};

struct Csr {
  std::vector<EdgeOffset> offsets = {0};
  std::vector<VertexId> neighbours;
  std::vector<double> weights;  // empty if there are none

  VertexId vertices() const { return static_cast<VertexId>(offsets.size() - 1); }
  EdgeOffset degree(VertexId v) const { return offsets[std::size_t{v} + 1] - offsets[v]; }
  std::span<const VertexId> list(VertexId v) const {
    return std::span(neighbours).subspan(offsets[v], degree(v));
  }
  std::span<const double> list_weights(VertexId v) const {
    return weights.empty() ? std::span<const double>()
                           : std::span(weights).subspan(offsets[v], degree(v));
  }
};

// As a conversion would: without self-loops, and of duplicates the lightest. kIn asks for the
// incoming edges of a directed graph.
Result<Csr> BuildCsr(const EdgeList& list, Direction direction = Direction::kOut);

// The same graph as a file.
Status WriteSlimFile(const EdgeList& list, const std::string& path);

// All lists of one direction. Integer weights beyond 2^53 are an error, as a double cuts them.
Result<Csr> ReadCsr(const GraphSource& file, Direction direction = Direction::kOut);

}  // namespace slimgraph
