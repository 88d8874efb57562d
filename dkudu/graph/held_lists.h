// All lists of other nodes, brought here once and kept: from the highest place down, so that roots
// at high places can be worked on while the lists of lower ones are on their way. Filled by one
// thread; others may look between two calls of Next().
#pragma once

#include <memory>
#include <vector>

#include "dkudu/graph/list_fetch.h"
#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

class HeldLists {
 public:
  HeldLists(const MiningGraph& graph, ListFetch& fetch);

  // What all of them take on a node.
  static std::uint64_t Bytes(const MiningGraph& graph, NodeId node);

  // Waits for more; false if all are here.
  Result<bool> Next();
  // The lists of this place and of all above are here.
  VertexId ready_from() const { return ready_from_; }
  List Get(VertexId v) const {
    if (graph_.is_own(v)) return graph_.own(v);
    const Displacements& displacements = graph_.displacements();
    return {lists_[graph_.home(v)].get() + displacements.begin(v), displacements.size(v)};
  }

 private:
  VertexId FirstOfWindow(VertexId end) const;
  void AskBelow(VertexId end);

  const MiningGraph& graph_;
  ListFetch& fetch_;
  std::vector<std::unique_ptr<VertexId[]>> lists_;  // by home
  VertexId ready_from_;
  VertexId asked_from_;
  ListFetch::Ticket asked_ = 0;
};

}  // namespace slimgraph
