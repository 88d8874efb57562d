// The nodes that share this node's machine, and so its memory and processors.
#pragma once

#include <vector>

#include "slimgraph/launch/job.h"

namespace slimgraph {

inline std::vector<NodeId> NodesOnThisHost(const Job& job) {
  std::vector<NodeId> here;
  for (NodeId node = 0; node < job.nodes(); ++node) {
    if (job.same_host(node, job.self())) here.push_back(node);
  }
  return here;
}

}  // namespace slimgraph
