#include "dkudu/internal/kernel/root_lists.h"

namespace slimgraph::dkudu {
namespace {

ListRoom RoomForTasks(const MiningGraph& graph) {
  return {.lists = RootTask::kMaxRoots, .neighbours = MostTaskNeighbours(graph)};
}

}  // namespace

RootLists::RootLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse)
    : graph_(graph), lists_(graph, fetch, cache, reuse, RoomForTasks(graph)) {}

std::uint64_t RootLists::Bytes(const MiningGraph& graph) {
  return RoomForTasks(graph).Bytes(graph);
}

Status RootLists::Fetch(const RootTask& task) {
  VertexId roots[RootTask::kMaxRoots];
  for (VertexId i = 0; i < task.count; ++i) roots[i] = task.root(i, graph_);
  return Fetch(List(roots, task.count));
}

Status RootLists::Fetch(List roots) {
  lists_.Clear();
  roots_.assign(roots.begin(), roots.end());
  tickets_.clear();
  for (const VertexId v : roots_) tickets_.push_back(lists_.Add(v));
  lists_.Start();
  return lists_.Finish();
}

}  // namespace slimgraph::dkudu
