// Counts houses at the edge that their square and their triangle share. For a root r, p(w) is the
// number of paths r-v-w. An edge {r, v} is in p(v) triangles. The number of squares at it is the
// sum of p(w) - 1 over the other neighbours w of v. A square that contains the triangle's third
// vertex makes no house. Summed over the graph, 2 t (t - 1) such pairs are subtracted for each edge
// in t triangles.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/kernel/neighbour_lists.h"

namespace slimgraph::dkudu {

class HouseKernel {
 public:
  // `chunk_bytes` must be at least LeastKernelBytes().
  HouseKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
              std::uint64_t chunk_bytes);

  // Memory for each vertex of the graph, besides the lists.
  static constexpr std::uint64_t kVertexBytes = sizeof(std::uint32_t) + sizeof(VertexId);

  Status Run(const RootTask& task);

  // The sum over all roots: each house is counted from both ends of its edge.
  WideCount twice_houses() const { return twice_houses_; }

 private:
  using Root = RootLists::Root;
  Status ProcessGroup();
  Status ProcessInPieces(const Root& root);
  template <typename Visit>
  Status ForEachNeighbour(const Root& root, Visit visit);
  void CountPaths(List list);
  void CountHousesAt(VertexId root, VertexId v, List list);
  void ResetPaths();

  RootLists roots_;
  NeighbourLists neighbours_;
  std::vector<Root> group_;  // roots whose neighbours' lists are fetched together
  std::vector<std::uint32_t> paths_to_;
  std::vector<VertexId> reached_;
  WideCount twice_houses_ = 0;
};

}  // namespace slimgraph::dkudu
