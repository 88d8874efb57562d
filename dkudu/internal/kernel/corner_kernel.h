// Counts, at each vertex, the arcs among its neighbours: the corners of triangles opposite an arc.
// An undirected edge counts as two arcs. Each edge {r, v} is visited at its higher vertex r. For a
// neighbour w of both, an arc v -> w is among the neighbours of r, and an arc r -> w among those of
// v. So each arc among a vertex's neighbours is counted once, at the edge to the arc's source.
#pragma once

#include <vector>

#include "dkudu/internal/kernel/edge_walk.h"
#include "dkudu/internal/kernel/marks.h"

namespace slimgraph::dkudu {

// kPart is that of the graph: kAll of an undirected graph, or kArcs of a directed one.
template <ListPart kPart>
class CornerKernel {
 public:
  // `chunk_bytes` must be at least LeastKernelBytes(). The kernel adds to `arcs_at`, which has a
  // counter for each dense id and is shared with other threads.
  CornerKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
               std::uint64_t chunk_bytes, std::uint64_t* arcs_at)
      : graph_(graph),
        arcs_at_(arcs_at),
        walk_(graph, fetch, cache, reuse, chunk_bytes),
        marks_(graph.vertices()) {}

  // Memory for each vertex of the graph, besides the lists.
  static constexpr std::uint64_t kVertexBytes = 1;

  Status Run(const RootTask& task);

 private:
  struct Arcs {
    std::uint64_t of_root = 0;
    std::uint64_t of_neighbour = 0;
  };
  static Arcs CountIn(const Marks& marks, List list);
  void Add(VertexId v, std::uint64_t arcs);

  const MiningGraph& graph_;
  std::uint64_t* arcs_at_;
  EdgeWalk<kPart> walk_;
  Marks marks_;  // the root's neighbours
};

extern template class CornerKernel<ListPart::kAll>;
extern template class CornerKernel<ListPart::kArcs>;

}  // namespace slimgraph::dkudu
