// The roots that a compute node works on, cut into tasks that its threads take one by one.
#pragma once

#include <vector>

#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

// Some roots of one home; a root of huge degree may come in slices of its first level.
struct RootTask {
  // Few, so that threads end together; fewer where there are not many for each engine.
  static constexpr VertexId kMaxRoots = 64;

  NodeId home = 0;
  VertexId first = 0;  // indices within the home
  VertexId count = 0;
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
  std::uint64_t neighbours = 0;  // of all of them
};

// That a task has.
std::uint64_t MostTaskNeighbours(const MiningGraph& graph);

// All that compute node `worker` has to do, roots of high degree first: they take the longest.
// Every node can tell those of any. If roots may be sliced, the slices of one are dealt out to all
// compute nodes.
std::vector<RootTask> RootTasksOf(const MiningGraph& graph, NodeId worker, bool may_slice);

}  // namespace slimgraph
