// Sums over edges from which the counts of all four-vertex patterns except the 4-clique follow: the
// triangles at each edge, and the 4-cycles. Each edge and each cycle is counted at its highest
// vertex, which scans the lists of its lower neighbours once. In a graph ordered by degree, these
// lists are the short ones.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/kernel/marks.h"
#include "dkudu/internal/kernel/neighbour_lists.h"

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
  // `chunk_bytes` must be at least LeastKernelBytes(). `at_vertices` may be null; it is indexed by
  // dense id and shared with other threads. The triangles of each edge are added at both ends.
  EdgeKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
             std::uint64_t chunk_bytes, std::uint64_t* at_vertices);

  // Memory for each vertex of the graph, besides the lists.
  static constexpr std::uint64_t kVertexBytes = 1 + sizeof(std::uint32_t) + sizeof(VertexId);

  Status Run(const RootTask& task);
  const EdgeSums& sums() const { return sums_; }

 private:
  // Lower neighbours [first, last) of a root; more pieces of the same root may follow.
  struct Piece {
    VertexId root;
    List list;
    std::size_t first;
    std::size_t last;
  };
  Status ProcessPieces();
  void Scan(const Piece& piece);
  void AddTrianglesAt(VertexId v, std::uint64_t triangles);
  void CountEdge(const Piece& piece, VertexId v, List list);

  const MiningGraph& graph_;
  std::uint64_t* at_vertices_;
  RootLists roots_;
  NeighbourLists neighbours_;  // of the pieces in order
  std::size_t next_neighbour_ = 0;
  std::vector<Piece> pieces_;
  Marks marks_;
  std::vector<std::uint32_t> paths_to_;  // from the root, through the neighbours processed so far
  std::vector<VertexId> reached_;
  EdgeSums sums_;
};

}  // namespace slimgraph::dkudu
