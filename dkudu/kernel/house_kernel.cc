#include "dkudu/kernel/house_kernel.h"

#include <algorithm>

namespace slimgraph {

HouseKernel::HouseKernel(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse,
                         std::uint64_t chunk_bytes)
    : graph_(graph),
      chunk_bytes_(chunk_bytes),
      roots_(graph, fetch, cache, reuse),
      neighbours_(graph, fetch, cache, reuse),
      paths_to_(graph.vertices()) {}

Status HouseKernel::Run(const RootTask& task) {
  roots_.Clear();
  std::vector<FetchedLists::Ticket> root_tickets;
  const auto root = [&](VertexId i) { return task.home + (task.first + i) * graph_.nodes(); };
  for (VertexId i = 0; i < task.count; ++i) root_tickets.push_back(roots_.Add(root(i)));
  roots_.Start();
  SLIM_TRY(roots_.Finish());
  for (VertexId i = 0; i < task.count; ++i) {
    const Root one{root(i), roots_.Get(root_tickets[i])};
    if (!Fits(one)) {
      SLIM_TRY(WorkOffGroup());
      if (!Fits(one)) {
        SLIM_TRY(InPieces(one));
        continue;
      }
    }
    for (const VertexId v : one.list) tickets_.push_back(neighbours_.Add(v));
    group_.push_back(one);
  }
  return WorkOffGroup();
}

// Whether the lists of the root's neighbours fit beside what is asked for already.
bool HouseKernel::Fits(const Root& root) const {
  std::uint64_t bytes = neighbours_.bytes();
  for (const VertexId v : root.list) {
    if (!graph_.is_own(v)) bytes += graph_.degree(v) * sizeof(VertexId);
  }
  return bytes <= chunk_bytes_;
}

Status HouseKernel::WorkOffGroup() {
  neighbours_.Start();
  SLIM_TRY(neighbours_.Finish());
  const FetchedLists::Ticket* ticket = tickets_.data();
  for (const Root& root : group_) {
    for (std::size_t i = 0; i < root.list.size(); ++i) CountPaths(neighbours_.Get(ticket[i]));
    for (std::size_t i = 0; i < root.list.size(); ++i) {
      SeeNeighbour(root.v, root.list[i], neighbours_.Get(ticket[i]));
    }
    ticket += root.list.size();
    Forget();
  }
  group_.clear();
  tickets_.clear();
  neighbours_.Clear();
  return {};
}

// A root whose neighbours' lists do not fit into memory: they are brought twice.
Status HouseKernel::InPieces(const Root& root) {
  SLIM_TRY(ForEachNeighbour(root, [&](VertexId, List list) { CountPaths(list); }));
  SLIM_TRY(ForEachNeighbour(root, [&](VertexId v, List list) { SeeNeighbour(root.v, v, list); }));
  Forget();
  return {};
}

template <typename Visit>
Status HouseKernel::ForEachNeighbour(const Root& root, Visit visit) {
  for (std::size_t first = 0; first < root.list.size();) {
    neighbours_.Clear();
    tickets_.clear();
    std::size_t last = first;
    while (last < root.list.size()) {
      const std::uint64_t more = graph_.degree(root.list[last]) * sizeof(VertexId);
      if (last > first && neighbours_.bytes() + more > chunk_bytes_) break;
      tickets_.push_back(neighbours_.Add(root.list[last++]));
    }
    neighbours_.Start();
    SLIM_TRY(neighbours_.Finish());
    for (std::size_t i = first; i < last; ++i) {
      visit(root.list[i], neighbours_.Get(tickets_[i - first]));
    }
    first = last;
  }
  neighbours_.Clear();
  tickets_.clear();
  return {};
}

void HouseKernel::CountPaths(List list) {
  for (const VertexId w : list) {
    if (paths_to_[w]++ == 0) reached_.push_back(w);
  }
}

void HouseKernel::SeeNeighbour(VertexId root, VertexId v, List list) {
  const WideCount triangles = paths_to_[v];
  if (triangles == 0) return;
  std::uint64_t paths = 0;
  for (const VertexId w : list) paths += paths_to_[w];
  const std::uint64_t squares = paths - paths_to_[root] - (list.size() - 1);
  twice_houses_ += triangles * squares - 2 * triangles * (triangles - 1);
}

void HouseKernel::Forget() {
  for (const VertexId w : reached_) paths_to_[w] = 0;
  reached_.clear();
}

}  // namespace slimgraph
