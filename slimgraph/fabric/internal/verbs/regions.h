// The addresses and keys of every node's regions, for use through that node's devices.
#pragma once

#include <memory>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

struct VerbsRegion {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> keys{};  // by port
};

// One thread may add regions while others look up earlier ones.
class VerbsRegions {
 public:
  VerbsRegions() : regions_(kMaxRegions) {}

  void Add(RegionId id, std::vector<VerbsRegion> of_nodes) { regions_[id] = std::move(of_nodes); }

  // Null for a region that was never shared.
  const VerbsRegion* Find(NodeId node, RegionId id) const {
    return id < regions_.size() && node < regions_[id].size() ? &regions_[id][node] : nullptr;
  }

 private:
  std::vector<std::vector<VerbsRegion>> regions_;  // [region][node]
};

}  // namespace slimgraph
