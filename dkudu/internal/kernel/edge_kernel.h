// Sums over edges from which the counts of all four-vertex patterns except the 4-clique follow: the
// triangles at each edge, and the 4-cycles. Each edge and each cycle is counted at its highest
// vertex, which scans the lists of its lower neighbours once.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/kernel/edge_walk.h"
#include "dkudu/internal/kernel/marks.h"

namespace slimgraph::dkudu {

// Sums over all edges {u, v}; t is the number of triangles at the edge.
struct EdgeSums {
  WideCount triangles = 0;  // t
  WideCount diamonds = 0;   // t (t - 1) / 2
  WideCount tails = 0;      // t (d(u) - 2 + d(v) - 2)
  WideCount paths = 0;      // (d(u) - 1) (d(v) - 1)
  WideCount cycles = 0;     // cycles of four vertices

  EdgeSums& operator+=(const EdgeSums& other);
};

class EdgeKernel {
 public:
  // `chunk_bytes` must be at least LeastKernelBytes().
  EdgeKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
             std::uint64_t chunk_bytes);

  // Memory for each vertex of the graph, besides the lists.
  static constexpr std::uint64_t kVertexBytes = 1 + sizeof(std::uint32_t) + sizeof(VertexId);

  Status Run(const RootTask& task);
  const EdgeSums& sums() const { return sums_; }

 private:
  using Walk = EdgeWalk<ListPart::kAll>;
  void CountEdge(const Walk::Piece& piece, std::size_t i, List list);

  const MiningGraph& graph_;
  Walk walk_;
  Marks marks_;
  std::vector<std::uint32_t> paths_to_;  // from the root, through the neighbours processed so far
  std::vector<VertexId> reached_;
  EdgeSums sums_;
};

}  // namespace slimgraph::dkudu
