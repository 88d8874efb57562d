// Where every node's regions lie, as its own device reaches them.
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

// Regions are added by one thread while others look up those that were there before.
class VerbsRegions {
 public:
  VerbsRegions() : regions_(kMaxRegions) {}

  void Add(RegionId id, std::vector<VerbsRegion> of_nodes) { regions_[id] = std::move(of_nodes); }

  // Null for one that was never shared.
  const VerbsRegion* Find(NodeId node, RegionId id) const {
    return id < regions_.size() && node < regions_[id].size() ? &regions_[id][node] : nullptr;
  }

 private:
  std::vector<std::vector<VerbsRegion>> regions_;  // [region][node]
};

}  // namespace slimgraph
