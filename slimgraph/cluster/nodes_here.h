// Which nodes share this one's machine, its memory and its processors.
#pragma once

#include <vector>

#include "slimgraph/launch/job.h"

namespace slimgraph {

inline std::vector<NodeId> NodesHere(const Job& job) {
  std::vector<NodeId> here;
  for (NodeId node = 0; node < job.nodes(); ++node) {
    if (job.same_host(node, job.self())) here.push_back(node);
  }
  return here;
}

}  // namespace slimgraph
