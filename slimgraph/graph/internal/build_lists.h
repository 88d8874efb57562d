// From unsorted edges to sorted adjacency lists, in bounded memory: edges are dealt into buckets of
// neighbouring vertices, and bucket after bucket is sorted and handed on while its memory goes
// back.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "slimgraph/graph/internal/raw_graph.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph::internal {

struct BuildRules {
  bool directed = false;
  bool keep_self_loops = false;
  bool keep_duplicates = false;  // otherwise the one with the smallest weight stays
  WeightType weight_type = WeightType::kNone;
  std::size_t threads = 0;
  ProgressHook progress;
};

// Takes the lists in ascending order of vertices, several at a time. Called by one thread at a
// time.
using ListSink = std::function<Status(std::span<const VertexId> neighbours, Bytes weights)>;

struct BuiltLists {
  std::vector<EdgeOffset> offsets;  // vertices + 1
  std::uint64_t edges = 0;          // {u,v} once
  std::uint64_t self_loops = 0;     // in the input
  std::uint64_t duplicates = 0;     // in the input: edges beyond the first of each kind
};

// The blocks are narrow and dense. With `consume` each goes as soon as it has been dealt out.
Result<BuiltLists> BuildLists(RawGraph& graph, VertexId vertices, Direction direction,
                              const BuildRules& rules, bool consume, const ListSink& sink);

}  // namespace slimgraph::internal
