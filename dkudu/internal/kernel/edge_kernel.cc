#include "dkudu/internal/kernel/edge_kernel.h"

#include <atomic>

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
                       std::uint64_t chunk_bytes, std::uint64_t* at_vertices)
    : graph_(graph),
      at_vertices_(at_vertices),
      roots_(graph, fetch, cache, reuse),
      neighbours_(graph, fetch, cache, reuse, chunk_bytes - RootLists::Bytes(graph)),
      marks_(graph.vertices()),
      paths_to_(graph.vertices()) {
  reached_.reserve(graph.vertices());  // a page never written takes no memory
}

Status EdgeKernel::Run(const RootTask& task) {
  SLIM_TRY(roots_.Fetch(task));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const auto [root, list] = roots_.Get(i);
    const std::size_t lower = list.size() - Above(list, root).size();
    std::size_t first = 0;
    for (std::size_t at = 0; at < lower; ++at) {
      if (!neighbours_.HasRoomFor(list[at])) {
        pieces_.push_back({root, list, first, at});
        SLIM_TRY(ProcessPieces());
        first = at;
      }
      neighbours_.Add(list[at]);
    }
    pieces_.push_back({root, list, first, lower});
  }
  return ProcessPieces();
}

Status EdgeKernel::ProcessPieces() {
  SLIM_TRY(neighbours_.Fetch());
  next_neighbour_ = 0;
  for (const Piece& piece : pieces_) Scan(piece);
  pieces_.clear();
  neighbours_.Clear();
  return {};
}

void EdgeKernel::Scan(const Piece& piece) {
  if (piece.first == 0) {
    for (const VertexId w : reached_) paths_to_[w] = 0;
    reached_.clear();
  }
  marks_.Set(piece.list);
  for (std::size_t i = piece.first; i < piece.last; ++i) {
    CountEdge(piece, piece.list[i], neighbours_.Get(next_neighbour_++));
  }
  marks_.Unset(piece.list);
}

void EdgeKernel::AddTrianglesAt(VertexId v, std::uint64_t triangles) {
  std::atomic_ref(at_vertices_[graph_.dense(v)]).fetch_add(triangles, std::memory_order_relaxed);
}

void EdgeKernel::CountEdge(const Piece& piece, VertexId v, List list) {
  const std::uint64_t triangles = marks_.Count(list);
  std::uint64_t cycles = 0;
  for (const VertexId w : list) {
    if (w >= piece.root) break;
    const std::uint32_t before = paths_to_[w]++;
    if (before == 0) reached_.push_back(w);
    cycles += before;
  }
  const WideCount at_root = piece.list.size();
  const WideCount at_v = graph_.degree(v);
  if (at_vertices_ != nullptr && triangles > 0) {
    AddTrianglesAt(piece.root, triangles);
    AddTrianglesAt(v, triangles);
  }
  sums_.triangles += triangles;
  sums_.diamonds += Choose(triangles, 2);
  if (triangles > 0) sums_.tails += triangles * (at_root + at_v - 4);
  sums_.paths += (at_root - 1) * (at_v - 1);
  sums_.cycles += cycles;
}

}  // namespace slimgraph::dkudu
