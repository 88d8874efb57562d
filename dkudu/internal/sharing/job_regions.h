// Memory that nodes share while a function of a mining job runs. A fabric frees no region before it
// ends, and the number of its regions is limited. So a job keeps its regions for later use.
#pragma once

#include <memory>
#include <vector>

#include "slimgraph/cluster/cluster.h"

namespace slimgraph::dkudu {

class JobRegions {
  struct Region {
    SharedRegion shared = {};
    std::uint64_t bytes = 0;  // on each compute node, or, everywhere, on this node
    bool everywhere = false;
    bool taken = false;
  };
  struct GiveBack {
    void operator()(Region* region) const { region->taken = false; }
  };

 public:
  // A region in use; the destructor gives it back. JobRegions must outlive it.
  class Lease {
   public:
    Lease() = default;
    explicit Lease(Region& region) : region_(&region) { region.taken = true; }
    RegionId id() const { return region_->shared.id; }
    // This node's memory; empty on memory nodes.
    MutableBytes memory() const { return region_->shared.memory; }

   private:
    std::unique_ptr<Region, GiveBack> region_;
  };

  // Collective, in the same order on all nodes: takes `bytes` of zeroed memory on each compute
  // node. A region that was given back may be reused: a collective operation must separate its last
  // use on any node from this call.
  Result<Lease> Take(Cluster& cluster, std::uint64_t bytes);
  // The same on all nodes, also on memory nodes: `bytes` on this node, and in a job always the same
  // on each node.
  Result<Lease> TakeEverywhere(Cluster& cluster, std::uint64_t bytes);

 private:
  template <typename Suits>
  Result<Lease> TakeOrShare(Cluster& cluster, Region wanted, std::uint64_t own_bytes, Suits suits);
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace slimgraph::dkudu
