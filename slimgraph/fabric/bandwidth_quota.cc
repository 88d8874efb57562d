#include "slimgraph/fabric/bandwidth_quota.h"

#include <algorithm>

#include "slimgraph/base/clock.h"

namespace slimgraph {

std::unique_ptr<BandwidthQuota> BandwidthQuota::Make(const Quota& quota, NodeId self,
                                                     NodeId nodes) {
  if (quota.bytes_per_s == 0) return nullptr;
  return std::unique_ptr<BandwidthQuota>(new BandwidthQuota(quota, self, nodes));
}

BandwidthQuota::BandwidthQuota(const Quota& quota, NodeId self, NodeId nodes)
    : quota_(quota), lends_(quota.lends(self)), free_ns_(nodes) {}

BandwidthQuota::Booking BandwidthQuota::Book(NodeId peer, std::uint64_t bytes) {
  if (quota_.lends(peer) == lends_) return {};
  const double seconds = static_cast<double>(bytes) / static_cast<double>(quota_.bytes_per_s);
  const auto needed_ns = static_cast<std::uint64_t>(seconds * 1e9);
  const std::uint64_t now = SharedNowNs();
  std::uint64_t seen = free_ns_[peer].load();
  while (true) {
    const std::uint64_t end = std::max(seen, now) + needed_ns;
    if (!free_ns_[peer].compare_exchange_weak(seen, end)) continue;
    return {.begin_ns = seen > now ? seen : 0, .end_ns = end};
  }
}

}  // namespace slimgraph
