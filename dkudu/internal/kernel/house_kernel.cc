#include "dkudu/internal/kernel/house_kernel.h"

namespace slimgraph::dkudu {

HouseKernel::HouseKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
                         std::uint64_t chunk_bytes)
    : roots_(graph, fetch, cache, reuse),
      neighbours_(graph, fetch, cache, reuse, chunk_bytes - RootLists::Bytes(graph)),
      paths_to_(graph.vertices()) {
  reached_.reserve(graph.vertices());  // a page never written takes no memory
}

Status HouseKernel::Run(const RootTask& task) {
  SLIM_TRY(roots_.Fetch(task));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Root root = roots_.Get(i);
    if (!neighbours_.HasRoomFor(root.list)) {
      SLIM_TRY(ProcessGroup());
      if (!neighbours_.HasRoomFor(root.list)) {
        SLIM_TRY(ProcessInPieces(root));
        continue;
      }
    }
    for (const VertexId v : root.list) neighbours_.Add(v);
    group_.push_back(root);
  }
  return ProcessGroup();
}

Status HouseKernel::ProcessGroup() {
  SLIM_TRY(neighbours_.Fetch());
  std::size_t first = 0;
  for (const Root& root : group_) {
    for (std::size_t i = 0; i < root.list.size(); ++i) CountPaths(neighbours_.Get(first + i));
    for (std::size_t i = 0; i < root.list.size(); ++i) {
      CountHousesAt(root.v, root.list[i], neighbours_.Get(first + i));
    }
    first += root.list.size();
    ResetPaths();
  }
  group_.clear();
  neighbours_.Clear();
  return {};
}

// Handles a root whose neighbours' lists do not all fit into memory: they are fetched twice.
Status HouseKernel::ProcessInPieces(const Root& root) {
  SLIM_TRY(ForEachNeighbour(root, [&](VertexId, List list) { CountPaths(list); }));
  SLIM_TRY(ForEachNeighbour(root, [&](VertexId v, List list) { CountHousesAt(root.v, v, list); }));
  ResetPaths();
  return {};
}

template <typename Visit>
Status HouseKernel::ForEachNeighbour(const Root& root, Visit visit) {
  for (std::size_t first = 0; first < root.list.size();) {
    neighbours_.Clear();
    std::size_t last = first;
    while (last < root.list.size() && neighbours_.HasRoomFor(root.list[last])) {
      neighbours_.Add(root.list[last++]);
    }
    SLIM_TRY(neighbours_.Fetch());
    for (std::size_t i = first; i < last; ++i) visit(root.list[i], neighbours_.Get(i - first));
    first = last;
  }
  neighbours_.Clear();
  return {};
}

void HouseKernel::CountPaths(List list) {
  for (const VertexId w : list) {
    if (paths_to_[w]++ == 0) reached_.push_back(w);
  }
}

void HouseKernel::CountHousesAt(VertexId root, VertexId v, List list) {
  const WideCount triangles = paths_to_[v];
  if (triangles == 0) return;
  std::uint64_t paths = 0;
  for (const VertexId w : list) paths += paths_to_[w];
  const std::uint64_t squares = paths - paths_to_[root] - (list.size() - 1);
  twice_houses_ += triangles * squares - 2 * triangles * (triangles - 1);
}

void HouseKernel::ResetPaths() {
  for (const VertexId w : reached_) paths_to_[w] = 0;
  reached_.clear();
}

}  // namespace slimgraph::dkudu
