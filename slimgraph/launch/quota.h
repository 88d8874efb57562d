// What a job may take of each node that lends it memory, so that it leaves something to the jobs of
// others. The lenders are the last nodes of the job, such as the deputies of a pool's nodes.
#pragma once

#include <cstdint>

#include "slimgraph/base/types.h"

namespace slimgraph {

struct Quota {
  NodeId first_lender = kMaxNodes;
  std::uint64_t memory_bytes = 0;  // of a lender, besides what it lends; 0: no limit
  std::uint64_t bytes_per_s = 0;   // between a lender and another node, both ways; 0: no limit

  bool lends(NodeId node) const { return node >= first_lender; }
};

}  // namespace slimgraph
