// Builds sorted adjacency lists from unsorted edges in bounded memory. Edges are distributed over
// buckets of consecutive vertices. Each bucket is sorted, passed to the sink and freed.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "slimgraph/files/internal/raw_graph.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::internal {

struct BuildRules {
  bool directed = false;
  bool keep_self_loops = false;
  bool keep_duplicates = false;  // if false, the edge with the smallest weight stays
  WeightType weight_type = WeightType::kNone;
  std::size_t threads = 0;
  ProgressHook progress;
  std::function<bool()> cancelled = {};  // as in ConvertOptions
};

// Receives the lists in ascending order of vertices, several lists per call. Only one thread calls
// it at a time.
using ListSink = std::function<Status(std::span<const VertexId> neighbours, Bytes weights)>;

struct BuiltLists {
  std::vector<EdgeOffset> offsets;  // vertices + 1
  std::uint64_t edges = 0;          // an undirected edge {u,v} counts once
  std::uint64_t self_loops = 0;     // of the input
  std::uint64_t duplicates = 0;  // of the input: edges beyond the first between the same vertices
};

// The blocks must be narrow, with dense ids. With `consume`, each block is freed as soon as its
// edges are in the buckets.
Result<BuiltLists> BuildLists(RawGraph& graph, VertexId vertices, Direction direction,
                              const BuildRules& rules, bool consume, const ListSink& sink);

}  // namespace slimgraph::internal
