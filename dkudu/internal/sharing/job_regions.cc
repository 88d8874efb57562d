#include "dkudu/internal/sharing/job_regions.h"

#include <algorithm>

namespace slimgraph::dkudu {

Result<JobRegions::Lease> JobRegions::Take(Cluster& cluster, std::uint64_t bytes) {
  const auto suits = [bytes](const Region& region) {
    return !region.everywhere && region.bytes >= bytes;
  };
  return TakeOrShare(cluster, {.bytes = bytes}, cluster.computes() ? bytes : 0, suits);
}

Result<JobRegions::Lease> JobRegions::TakeEverywhere(Cluster& cluster, std::uint64_t bytes) {
  SLIM_TRY(cluster.all().Barrier());  // a node may still read what others have given back
  const auto suits = [](const Region& region) { return region.everywhere; };
  return TakeOrShare(cluster, {.bytes = bytes, .everywhere = true}, bytes, suits);
}

template <typename Suits>
Result<JobRegions::Lease> JobRegions::TakeOrShare(Cluster& cluster, Region wanted,
                                                  std::uint64_t own_bytes, Suits suits) {
  Fabric& fabric = cluster.fabric();
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const auto& region) {
    return !region->taken && suits(*region);
  });
  if (found != regions_.end()) {
    if (!(*found)->shared.memory.empty()) fabric.Clear((*found)->shared.id);
    SLIM_TRY(cluster.all().Barrier());  // no node uses it before all have cleared it
    return Lease(**found);
  }
  SLIM_ASSIGN(wanted.shared, fabric.Share(own_bytes));
  regions_.push_back(std::make_unique<Region>(wanted));
  return Lease(*regions_.back());
}

}  // namespace slimgraph::dkudu
