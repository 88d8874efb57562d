// The roots that a compute node works on, cut into tasks that its threads take one by one.
#pragma once

#include <vector>

#include "dkudu/graph/mining_graph.h"

namespace slimgraph {

// Some roots of one home; a root of huge degree may come in slices of its first level.
struct RootTask {
  NodeId home = 0;
  VertexId first = 0;  // indices within the home
  VertexId count = 0;
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
};

// All of this node's, those of high degree first: they take the longest.
std::vector<RootTask> RootTasksOf(const MiningGraph& graph, bool may_slice);

}  // namespace slimgraph
