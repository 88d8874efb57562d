// The lists of one part as a memory node keeps them: coded, with a table of their positions, in
// regions that its delegate reads. A memory node does not keep the plain ids.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/files/graph_source.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {

// The positions of eight consecutive lists: one small read suffices to find any of them.
struct OffsetGroup {
  static constexpr VertexId kLists = 8;

  std::uint64_t first_byte;  // where the first list begins in the coded lists
  EdgeOffset first_arc;      // where its weights begin, in arcs
  std::array<std::uint32_t, kLists> lengths;
};

constexpr std::uint64_t OffsetGroups(VertexId vertices) {
  return (std::uint64_t{vertices} + OffsetGroup::kLists - 1) / OffsetGroup::kLists;
}

struct ServedRegions {
  RegionId offsets = 0;  // an OffsetGroup for every eight vertices
  RegionId lists = 0;    // the coded lists without gaps, then ListCode::kSlackBytes
  RegionId weights = 0;  // by arc, in the file's type; unused without weights
};

// Lists and weights in memory that this process can read. Empty: they must be fetched.
struct ListsInPlace {
  Bytes lists;
  Bytes weights;
};

// Where a part begins in the regions, which may also have lists of other parts.
struct PartBegin {
  VertexId list = 0;  // a multiple of OffsetGroup::kLists
  EdgeOffset arc = 0;
  std::uint64_t byte = 0;
};

struct ServedLists {
  ServedRegions regions;
  // This node's own memory of these regions.
  std::span<OffsetGroup> offsets;
  MutableBytes lists;
  MutableBytes weights;
};

// Calls visit(i, first_byte, first_arc, length) for the lists first .. end-1 of a part, in order.
template <typename Visit>
void VisitServedLists(const ServedLists& lists, const ListCode& code, VertexId first, VertexId end,
                      Visit visit) {
  constexpr VertexId kLists = OffsetGroup::kLists;
  for (VertexId i = first / kLists * kLists; i < end;) {
    const OffsetGroup& group = lists.offsets[i / kLists];
    std::uint64_t first_byte = group.first_byte;
    EdgeOffset first_arc = group.first_arc;
    for (const VertexId group_end = std::min(i + kLists, end); i < group_end; ++i) {
      const std::uint32_t length = group.lengths[i % kLists];
      if (i >= first) visit(i, first_byte, first_arc, length);
      first_byte += code.Bytes(length);
      first_arc += length;
    }
  }
}

// The memories of a part's lists.
enum class ListMemory { kOffsets, kLists, kWeights };
// Allocates zeroed memory.
using MakeListMemory = std::function<Result<MutableBytes>(ListMemory, std::uint64_t bytes)>;

// Encodes the lists of a contiguous part while it reads them, with `threads` threads, into memory
// of `make`. The result has no regions.
Result<ServedLists> CodeLists(const GraphSource& file, const VertexPart& part, Direction direction,
                              bool weights, std::size_t threads, const ListObserver& watch,
                              const MakeListMemory& make);

// Calls `watch` with all lists that are not empty; `first` is the vertex of the first one, and they
// are coded by `code`. An error if they are not lists of that code. Lists that are not `wanted` are
// not decoded; it is asked for each list that is not empty.
Status VisitLists(const ServedLists& served, VertexId first, const ListCode& code,
                  std::size_t threads, const ListObserver& watch,
                  const std::function<bool(VertexId v)>& wanted = {});

// Collective: encodes the lists of a contiguous part while it reads them. Nodes that serve no lists
// call it with an empty part.
Result<ServedLists> LoadServedLists(Cluster& cluster, const GraphSource& file,
                                    const VertexPart& part, Direction direction, bool weights,
                                    std::uint32_t socket, const ListObserver& watch);

}  // namespace slimgraph
