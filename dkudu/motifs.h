// Counts all connected patterns of three or four vertices at once, by formulas. Only triangles,
// 4-cliques and 4-cycles must be found one by one, which is one to two orders of magnitude less
// work.
#pragma once

#include <string>
#include <vector>

#include "dkudu/mining_job.h"
#include "dkudu/plan/matching_order.h"

namespace slimgraph::dkudu {

struct MotifCount {
  std::string name;
  std::uint64_t count = 0;
};

// Motifs of 3 or 4 vertices. Those of three need the upper part of each list, those of four the
// complete lists.
Result<std::vector<MotifCount>> CountMotifs(MiningJob& job, unsigned vertices, Induced induced);

// The most memory that CountMotifs takes on a compute node, besides the graph.
std::uint64_t MotifBytes(const MiningGraph& graph, const MiningOptions& options, unsigned vertices);

}  // namespace slimgraph::dkudu
