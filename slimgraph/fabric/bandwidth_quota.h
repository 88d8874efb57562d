// Keeps the traffic between a node that lends memory and another node below a rate
// (Quota::bytes_per_s). An operation completes no earlier than the rate allows. A message is sent
// when those before it could have arrived. Memory that a node maps is no traffic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "slimgraph/launch/quota.h"

namespace slimgraph {

class BandwidthQuota {
 public:
  // Null if nothing limits the traffic of node `self`.
  static std::unique_ptr<BandwidthQuota> Make(const Quota& quota, NodeId self, NodeId nodes);

  // When a transfer may begin and end, by SharedNowNs(); 0: at once.
  struct Booking {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  // Books a transfer of so many bytes, there and back. From any thread.
  Booking Book(NodeId peer, std::uint64_t bytes);

 private:
  BandwidthQuota(const Quota& quota, NodeId self, NodeId nodes);
  const Quota quota_;
  const bool lends_;
  std::vector<std::atomic<std::uint64_t>> free_ns_;  // by node: when the next transfer may begin
};

}  // namespace slimgraph
