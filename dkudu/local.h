// The triangles at each vertex, and its local clustering coefficient.
#pragma once

#include <functional>

#include "dkudu/mining_job.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph::dkudu {

struct LocalFigures {
  std::uint64_t degree = 0;
  std::uint64_t triangles = 0;

  // The share of the neighbours' pairs that are adjacent; 0 if there are no pairs.
  double clustering() const {
    if (degree < 2) return 0;
    const auto d = static_cast<double>(degree);
    return 2 * static_cast<double>(triangles) / (d * (d - 1));
  }
};

// Calls visit(original id, figures) on node 0 for every vertex, in ascending order of ids. Only
// node 0 needs `ids`. The graph must have complete lists. Compute nodes need 8 bytes for each
// vertex of the graph.
using LocalVisit = std::function<Status(std::uint64_t, const LocalFigures&)>;
Status ForEachLocal(MiningJob& job, const OriginalIds& ids, const LocalVisit& visit);

// The most memory that ForEachLocal takes on a compute node, besides the graph.
std::uint64_t LocalBytes(const MiningGraph& graph, const MiningOptions& options);

}  // namespace slimgraph::dkudu
