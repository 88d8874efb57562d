// Options: what a delegate caches of its memory nodes' lists, and how it fetches the other lists.
#pragma once

#include <cstdint>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

// Each level includes all lower levels.
enum class CacheLevel { kNone, kBitmap, kIndex, kEdge };

// kStrict: memory nodes do nothing, and delegates use one-sided reads. kServe: memory nodes gather
// requested lists and send them.
enum class MemorySide { kStrict, kServe };

// The budget of one compute node's edge cache: a number of bytes, or a percentage of the bytes that
// all lists of its memory nodes would take.
struct EdgeBudget {
  std::uint64_t bytes = 0;
  double percent = 100;
  bool in_percent = true;

  std::uint64_t Of(std::uint64_t all_bytes) const {
    return in_percent ? static_cast<std::uint64_t>(static_cast<double>(all_bytes) * percent / 100)
                      : bytes;
  }
};

// Parses "512MiB" or "5%".
Result<EdgeBudget> ParseEdgeBudget(std::string_view text);

struct CacheOptions {
  CacheLevel level = CacheLevel::kEdge;
  EdgeBudget edges;
  MemorySide side = MemorySide::kStrict;
};

}  // namespace slimgraph
