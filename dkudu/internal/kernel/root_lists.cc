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
  lists_.Clear();
  tickets_.clear();
  first_ = task.home + task.first * graph_.nodes();
  for (VertexId i = 0; i < task.count; ++i) {
    tickets_.push_back(lists_.Add(first_ + i * graph_.nodes()));
  }
  lists_.Start();
  return lists_.Finish();
}

}  // namespace slimgraph::dkudu
