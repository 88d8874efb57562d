// Vertices in ascending order of (degree, dense id). D-Kudu identifies a vertex by its position in
// this order, its rank. A restriction a < b then leads from few neighbours to many. A graph whose
// edges point upwards has short lists, which bounds the work on triangles and cliques.
#pragma once

#include <span>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph::dkudu {

constexpr std::size_t kPieceVertices = 1 << 18;  // read from a file at a time

struct DegreeOrder {
  PageBuffer ranks;                // see rank_of()
  std::vector<VertexId> dense_of;  // by rank

  std::span<const VertexId> rank_of() const { return ranks.as<VertexId>(); }  // by dense id

  // Orders vertices by the lengths of the file's lists, of both directions if it is directed.
  static Result<DegreeOrder> Of(const GraphSource& file);
};

}  // namespace slimgraph::dkudu
