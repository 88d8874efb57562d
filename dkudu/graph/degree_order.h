// Vertices in ascending order of (degree, dense id). D-Kudu calls a vertex by its place in this
// order: a restriction a < b then leads from few neighbours to many, and a graph whose edges point
// upwards has short lists, which bounds the work on triangles and cliques.
#pragma once

#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/graph/graph_source.h"

namespace slimgraph {

constexpr std::size_t kPieceVertices = 1 << 18;  // of a file that is streamed through

struct DegreeOrder {
  std::vector<VertexId> place_of;  // by dense id
  std::vector<VertexId> dense_of;  // by place

  // By the lengths of the file's lists.
  static Result<DegreeOrder> Of(const GraphSource& file);
};

}  // namespace slimgraph
