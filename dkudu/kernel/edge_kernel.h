// What the numbers of all patterns of four vertices follow from, but for cliques: sums over edges
// of the triangles at each, and the 4-cycles. Each edge and each cycle is seen at its highest
// vertex, where the lists of that vertex's lower neighbours are scanned once: in a graph ordered by
// degree they are the short ones.
#pragma once

#include <vector>

#include "dkudu/kernel/count.h"
#include "dkudu/kernel/marks.h"
#include "dkudu/kernel/neighbour_lists.h"

namespace slimgraph {

// Over all edges {u, v} with t triangles each.
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
  // `chunk_bytes` is at least LeastKernelBytes(). `at_vertices`, by dense id and shared with other
  // threads, may be null: to both ends of each edge its triangles are added.
  EdgeKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
             std::uint64_t chunk_bytes, std::uint64_t* at_vertices);

  Status Run(const RootTask& task);
  const EdgeSums& sums() const { return sums_; }

 private:
  // Lower neighbours [first, last) of a root, of which others may follow.
  struct Piece {
    VertexId root;
    List list;
    std::size_t first;
    std::size_t last;
  };
  Status WorkOff();
  void Scan(const Piece& piece);
  void AddAt(VertexId v, std::uint64_t triangles);
  void See(const Piece& piece, VertexId v, List list);

  const MiningGraph& graph_;
  std::uint64_t* at_vertices_;
  RootLists roots_;
  NeighbourLists neighbours_;  // of the pieces, one after the other
  std::size_t next_neighbour_ = 0;
  std::vector<Piece> pieces_;
  Marks marks_;
  std::vector<std::uint32_t> paths_to_;  // from the root, through neighbours seen so far
  std::vector<VertexId> reached_;
  EdgeSums sums_;
};

}  // namespace slimgraph
