// Edges in memory, by any ids, and how they become a .slim file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/files/weights.h"

namespace slimgraph {

// The vertices are the ends of the edges, and those in `vertices`. Self-loops are dropped; of
// several edges between the same vertices, the one with the smallest weight is kept.
struct EdgeArrays {
  std::span<const std::uint64_t> src;
  std::span<const std::uint64_t> dst;
  std::span<const double> weights = {};  // empty, or one for each edge; integers if all are whole
  bool directed = false;
  std::span<const std::uint64_t> vertices = {};  // in any order; they may have no edge
  std::function<bool()> cancelled = {};          // as in ConvertOptions
};

// The file appears under `path` when it is complete. Without edges, its weights have the type
// `of_no_edges`.
Status WriteSlimFile(const EdgeArrays& edges, const std::string& path,
                     WeightType of_no_edges = WeightType::kNone);

}  // namespace slimgraph
