// The triangles at each vertex, and how many of its neighbours' pairs they close.
#pragma once

#include <functional>

#include "dkudu/mining_job.h"

namespace slimgraph {

struct LocalFigures {
  std::uint64_t degree = 0;
  std::uint64_t triangles = 0;

  // Of the pairs of neighbours, those that are adjacent; 0 where there are none.
  double clustering() const {
    if (degree < 2) return 0;
    const auto d = static_cast<double>(degree);
    return 2 * static_cast<double>(triangles) / (d * (d - 1));
  }
};

// Calls visit(dense id, figures) on node 0 for every vertex in ascending order. Takes all of each
// list, and on compute nodes 8 bytes for each vertex of the graph.
using LocalVisit = std::function<Status(VertexId, const LocalFigures&)>;
Status ForEachLocal(MiningJob& job, const LocalVisit& visit);

}  // namespace slimgraph
