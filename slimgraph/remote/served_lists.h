// The lists of one part as a memory node keeps them: coded, with a table of where each lies, in
// regions that its delegate reads. The ids themselves are nowhere in its memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/graph_source.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {

// Where eight neighbouring lists lie: one small read tells it of any of them.
struct PlaceGroup {
  static constexpr VertexId kLists = 8;

  std::uint64_t first_byte;  // of the coded lists
  EdgeOffset first_arc;      // of the weights
  std::array<std::uint32_t, kLists> lengths;
};

constexpr std::uint64_t PlaceGroups(VertexId vertices) {
  return (std::uint64_t{vertices} + PlaceGroup::kLists - 1) / PlaceGroup::kLists;
}

struct ServedRegions {
  RegionId places = 0;   // a PlaceGroup for every eight vertices
  RegionId lists = 0;    // coded, one after the other, and ListCode::kSlackBytes
  RegionId weights = 0;  // in the file's type, by arc; meaningless without
};

struct ServedLists {
  ServedRegions regions;
  // This node's own.
  std::span<PlaceGroup> places;
  MutableBytes lists;
  MutableBytes weights;
};

// Collective: codes the lists of a contiguous part while it reads them. Nodes that serve nothing
// take part with an empty one.
Result<ServedLists> LoadServedLists(Cluster& cluster, const GraphSource& file,
                                    const VertexPart& part, Direction direction, bool weights,
                                    std::uint32_t socket, const ListWatch& watch);

}  // namespace slimgraph
