#include "dkudu/internal/sharing/job_regions.h"

#include <algorithm>

namespace slimgraph::dkudu {

Result<JobRegions::Lease> JobRegions::Take(Cluster& cluster, std::uint64_t bytes) {
  Fabric& fabric = cluster.fabric();
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const auto& region) {
    return !region->taken && region->bytes >= bytes;
  });
  if (found != regions_.end()) {
    if (cluster.computes()) fabric.Clear((*found)->shared.id);
    SLIM_TRY(cluster.all().Barrier());  // no node uses it before all have cleared it
    return Lease(**found);
  }
  SLIM_ASSIGN(const SharedRegion shared, fabric.Share(cluster.computes() ? bytes : 0));
  regions_.push_back(std::make_unique<Region>(Region{shared, bytes}));
  return Lease(*regions_.back());
}

}  // namespace slimgraph::dkudu
