#include "dkudu/internal/kernel/edge_kernel.h"

namespace slimgraph::dkudu {

EdgeSums& EdgeSums::operator+=(const EdgeSums& other) {
  triangles += other.triangles;
  diamonds += other.diamonds;
  tails += other.tails;
  paths += other.paths;
  cycles += other.cycles;
  return *this;
}

EdgeKernel::EdgeKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
                       std::uint64_t chunk_bytes)
    : graph_(graph),
      walk_(graph, fetch, cache, reuse, chunk_bytes),
      marks_(graph.vertices()),
      paths_to_(graph.vertices()) {
  reached_.reserve(graph.vertices());  // a page never written takes no memory
}

Status EdgeKernel::Run(const RootTask& task) {
  return walk_.Run(task, [&](const Walk::Piece& piece, auto list_of) {
    if (piece.first == 0) {
      for (const VertexId w : reached_) paths_to_[w] = 0;
      reached_.clear();
    }
    marks_.Set(piece.list);
    for (std::size_t i = piece.first; i < piece.last; ++i) CountEdge(piece, i, list_of(i));
    marks_.Unset(piece.list);
  });
}

void EdgeKernel::CountEdge(const Walk::Piece& piece, std::size_t i, List list) {
  const std::uint64_t triangles = marks_.Count(list);
  std::uint64_t cycles = 0;
  for (const VertexId w : list) {
    if (w >= piece.root) break;
    const std::uint32_t before = paths_to_[w]++;
    if (before == 0) reached_.push_back(w);
    cycles += before;
  }
  const WideCount at_root = piece.list.size();
  const WideCount at_v = graph_.degree(piece.neighbour(i));
  sums_.triangles += triangles;
  sums_.diamonds += Choose(triangles, 2);
  if (triangles > 0) sums_.tails += triangles * (at_root + at_v - 4);
  sums_.paths += (at_root - 1) * (at_v - 1);
  sums_.cycles += cycles;
}

}  // namespace slimgraph::dkudu
