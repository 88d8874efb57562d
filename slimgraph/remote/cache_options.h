// What a delegate keeps of the lists of its memory nodes. Each level has all of those before it.
#pragma once

#include <cstdint>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

enum class CacheLevel { kNone, kBitmap, kIndex, kEdge };

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
};

}  // namespace slimgraph
