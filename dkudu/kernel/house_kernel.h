// Counts houses at the edge that their square and their triangle share. From a root r, p(w) is the
// number of paths r-v-w: an edge {r, v} is in p(v) triangles, and in the sum of p(w) - 1 over the
// other neighbours w of v squares. A square that has the triangle's corner in it is no house: there
// are 2 t (t - 1) of them at an edge of t triangles, if all of the graph are dealt out evenly.
#pragma once

#include <vector>

#include "dkudu/kernel/count.h"
#include "dkudu/kernel/neighbour_lists.h"

namespace slimgraph {

class HouseKernel {
 public:
  // `chunk_bytes` is at least LeastKernelBytes().
  HouseKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
              std::uint64_t chunk_bytes);

  Status Run(const RootTask& task);

  // Summed up over all roots: each house is seen from both ends of its edge.
  WideCount twice_houses() const { return twice_houses_; }

 private:
  using Root = RootLists::Root;
  Status WorkOffGroup();
  Status InPieces(const Root& root);
  template <typename Visit>
  Status ForEachNeighbour(const Root& root, Visit visit);
  void CountPaths(List list);
  void SeeNeighbour(VertexId root, VertexId v, List list);
  void Forget();

  RootLists roots_;
  NeighbourLists neighbours_;
  std::vector<Root> group_;  // whose neighbours' lists are brought together
  std::vector<std::uint32_t> paths_to_;
  std::vector<VertexId> reached_;
  WideCount twice_houses_ = 0;
};

}  // namespace slimgraph
