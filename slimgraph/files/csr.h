// Whole graphs in memory: unsorted edge lists, and sorted adjacency lists (CSR). For tests, serial
// oracles and small tools; engines load their partition with graph/load.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {

struct EdgeList {
  struct Edge {
    VertexId src;
    VertexId dst;
  };
  VertexId vertices = 0;  // ids are 0 .. vertices - 1
  std::vector<Edge> edges;
  std::vector<double> weights;  // empty, or one per edge; the graph stores integers if all are
  bool directed = false;
};

struct Csr {
  std::vector<EdgeOffset> offsets = {0};
  std::vector<VertexId> neighbours;
  std::vector<double> weights;  // empty if the graph is unweighted

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

// Builds the lists that `slimgraph convert` builds by default: without self-loops, and with the
// lightest of duplicate edges. kIn selects the incoming edges of a directed graph.
Result<Csr> BuildCsr(const EdgeList& list, Direction direction = Direction::kOut);

// Writes the same graph as a .slim file.
Status WriteSlimFile(const EdgeList& list, const std::string& path);

// Reads all lists of one direction. Integer weights beyond 2^53 are an error, because a double
// cannot hold them exactly.
Result<Csr> ReadCsr(const GraphSource& file, Direction direction = Direction::kOut);

}  // namespace slimgraph
