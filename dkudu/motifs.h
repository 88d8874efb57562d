// All connected patterns of three or four vertices at once, by formulae: what must be found one by
// one are triangles, 4-cliques and 4-cycles alone, which is one to two orders of magnitude less.
#pragma once

#include <string>
#include <vector>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"

namespace slimgraph {

struct MotifCount {
  std::string name;
  std::uint64_t count = 0;
};

// Of 3 or 4 vertices. Those of three take the upper part of each list, those of four all.
Result<std::vector<MotifCount>> CountMotifs(MiningJob& job, unsigned vertices, Induced induced);

}  // namespace slimgraph
