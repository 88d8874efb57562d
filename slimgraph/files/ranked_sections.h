// The ranked lists of a graph, as a .slim file may hold them (slim_format.h): what mining commands
// would otherwise make of its lists each time. D-Kudu makes and reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "slimgraph/base/page_buffer.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/files/graph_source.h"

namespace slimgraph {

struct RankedSections {
  std::vector<VertexId> dense_of;     // by rank
  std::vector<RankedLength> lengths;  // by rank
  PageBuffer lists;                   // coded, in the order of strata
  std::uint64_t list_bytes = 0;

  Bytes coded() const { return {lists.data(), list_bytes}; }
};

// Makes them of the lists of an undirected graph with vertices.
using RankedSectionsOf =
    std::function<Result<RankedSections>(const GraphSource& graph, std::size_t threads)>;

}  // namespace slimgraph
