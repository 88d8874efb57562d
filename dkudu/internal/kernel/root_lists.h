// The roots of a task and their lists, fetched together.
#pragma once

#include <vector>

#include "dkudu/internal/graph/fetched_lists.h"
#include "dkudu/internal/kernel/root_task.h"

namespace slimgraph::dkudu {

class RootLists {
 public:
  RootLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse);

  // The memory that suffices for any task.
  static std::uint64_t Bytes(const MiningGraph& graph);

  // Fetches the lists of the task's roots; invalidates what Get() returned before.
  Status Fetch(const RootTask& task);
  // The same for some roots of a task.
  Status Fetch(List roots);

  struct Root {
    VertexId v;
    List list;
  };
  std::size_t size() const { return tickets_.size(); }
  Root Get(std::size_t i) const { return {roots_[i], lists_.Get(tickets_[i])}; }

 private:
  const MiningGraph& graph_;
  FetchedLists lists_;
  std::vector<VertexId> roots_;
  std::vector<FetchedLists::Ticket> tickets_;
};

}  // namespace slimgraph::dkudu
