// Options: what a delegate caches of its memory nodes' lists, how it fetches the other lists, and
// for what it is a delegate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/fabric_options.h"

namespace slimgraph {

class Cluster;

// Each level includes all lower levels. kNone still fetches many lists at once; kNaive fetches one
// after the other, for comparison (naive_source.h).
enum class CacheLevel { kNaive, kNone, kBitmap, kIndex, kEdge };

// kStrict: memory nodes do nothing, and delegates use one-sided reads. kServe: memory nodes gather
// requested lists and send them. kReduce: like kStrict, but in a pull step of a program that allows
// it, memory nodes get the active vertices with their values, combine them over their own lists,
// and send the results. Only programs of the command can use it: memory nodes must know them.
// kAuto: kStrict or kReduce, by the bytes of each step.
enum class MemorySide { kStrict, kServe, kReduce, kAuto };

inline bool MayReduce(MemorySide side) {
  return side == MemorySide::kReduce || side == MemorySide::kAuto;
}

// kBlock: all compute nodes have equally much to do; several may work for a memory node. kNode: one
// compute node works for each memory node.
enum class Delegation { kBlock, kNode };

// How compute nodes get lists of a graph in a pool. kInPlace: over shm and without an imitated
// network, they use the pool's memory, which they map. kRead: they copy lists by operations, which
// are counted, as from another host.
enum class Access { kInPlace, kRead };

// `host_of`: see CacheOptions.
inline NodesInPlace InPlaceBy(Access access, std::optional<NodeId> host_of) {
  return {.any = access == Access::kInPlace, .only = host_of};
}

// The budget of one compute node's edge cache: a number of bytes, or a percentage of the bytes that
// all lists of its memory nodes would take.
struct EdgeBudget {
  std::uint64_t bytes = 0;
  double percent = 100;
  bool in_percent = true;
  bool automatic = false;                                                // see DecideEdgeBudget
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();  // of a percentage

  std::uint64_t Of(std::uint64_t all_bytes) const {
    if (!in_percent) return bytes;
    const double part = static_cast<double>(all_bytes) * percent / 100;
    return std::min(static_cast<std::uint64_t>(part), most_bytes);
  }
};

// Parses "512MiB", "5%" or "auto".
Result<EdgeBudget> ParseEdgeBudget(std::string_view text);

// Collective. An automatic budget becomes: all lists, but at most half of the memory that is free
// for each node, on the host where that is least. So a cache never makes a job too large for its
// hosts. All other budgets stay what they are.
Status DecideEdgeBudget(Cluster& cluster, EdgeBudget& budget);

struct CacheOptions {
  CacheLevel level = CacheLevel::kEdge;
  EdgeBudget edges;
  MemorySide side = MemorySide::kStrict;
  Delegation delegation = Delegation::kBlock;
  Access access = Access::kInPlace;
  // Imitates hosts: of the lists in a pool, those of this node alone are on the host of the compute
  // nodes. With kInPlace.
  std::optional<NodeId> host_of = {};
  // kReduce and kAuto: while a memory node has used more processor time than this percentage of the
  // elapsed time, its lists are read instead. 0: no limit.
  double memory_cpu_percent = 0;
};

}  // namespace slimgraph
