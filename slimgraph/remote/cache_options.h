// What a delegate keeps of the lists of its memory nodes, and how it gets the others.
#pragma once

#include <cstdint>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

// Each level has all of those before it.
enum class CacheLevel { kNone, kBitmap, kIndex, kEdge };

// What memory nodes do: nothing, so that all is one-sided reads, or gather the lists asked for.
enum class MemorySide { kStrict, kServe };

// For the edge cache of one compute node: so many bytes, or a share of all that its memory nodes
// hold.
struct EdgeBudget {
  std::uint64_t bytes = 0;
  double percent = 100;
  bool in_percent = true;

  std::uint64_t Of(std::uint64_t all_bytes) const {
    return in_percent ? static_cast<std::uint64_t>(static_cast<double>(all_bytes) * percent / 100)
                      : bytes;
  }
};

// "512MiB", "5%".
Result<EdgeBudget> ParseEdgeBudget(std::string_view text);

struct CacheOptions {
  CacheLevel level = CacheLevel::kEdge;
  EdgeBudget edges;
  MemorySide side = MemorySide::kStrict;
};

}  // namespace slimgraph
