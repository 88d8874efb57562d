// The roots of a task with their lists, brought here together.
#pragma once

#include <vector>

#include "dkudu/graph/fetched_lists.h"
#include "dkudu/kernel/root_task.h"

namespace slimgraph {

class RootLists {
 public:
  RootLists(const MiningGraph& graph, ListFetch& fetch, ListCache* cache, Reuse reuse);

  // What any task takes.
  static std::uint64_t Bytes(const MiningGraph& graph);

  // What Get() gave before is invalid.
  Status Bring(const RootTask& task);

  struct Root {
    VertexId v;
    List list;
  };
  std::size_t size() const { return tickets_.size(); }
  Root Get(std::size_t i) const {
    return {first_ + static_cast<VertexId>(i) * graph_.nodes(), lists_.Get(tickets_[i])};
  }

 private:
  const MiningGraph& graph_;
  FetchedLists lists_;
  std::vector<FetchedLists::Ticket> tickets_;
  VertexId first_ = 0;
};

}  // namespace slimgraph
