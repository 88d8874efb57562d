// One-sided and two-sided access to the memory of the other nodes: the only way by which data
// crosses between nodes. Open this header first, then endpoint.h.
//
// A fabric belongs to one process. Fabric's own functions are called by one thread; each of its
// endpoints is used by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/network_model.h"
#include "slimgraph/fabric/operation.h"
#include "slimgraph/fabric/transport.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {

// Memory of this node that the others can reach under `id`.
struct SharedRegion {
  RegionId id = 0;
  MutableBytes memory;
};

class Fabric {
 public:
  // Collective.
  static Result<std::unique_ptr<Fabric>> Open(Job& job, const FabricOptions& options);
  ~Fabric();

  NodeId self() const;
  NodeId nodes() const;
  // False from when the job knows that the node is lost; endpoints that wait are woken then.
  bool alive(NodeId node) const;
  std::uint32_t endpoints() const { return static_cast<std::uint32_t>(endpoints_.size()); }
  std::string_view transport() const { return transport_->name(); }
  // Whether the processor's atomics on own regions and the endpoints' are atomic with each other.
  // Where not, words that endpoints change by atomics are changed by these alone, by all nodes.
  bool atomics_by_processor() const { return transport_->own_atomics_by_processor(); }
  // Whether shared memory that was never written takes none.
  bool pages_on_demand() const { return transport_->pages_on_demand(); }
  Endpoint& endpoint(std::uint32_t index) { return *endpoints_[index]; }

  // Collective, in the same order on all nodes: zeroed, page-aligned memory on each, of its own
  // size, reachable from all when it returns. Freed with the fabric. `place` is called before any
  // page of it is touched, which an adapter does at once with all of them.
  using Place = std::function<Status(MutableBytes)>;
  Result<SharedRegion> Share(std::uint64_t bytes, const Place& place = {});
  std::uint64_t region_bytes(NodeId node, RegionId region) const;
  MutableBytes own_region(RegionId region) const;
  // Zeroes this node's memory of it, and gives its pages back where the transport can; nobody uses
  // it meanwhile. From any thread.
  void Clear(RegionId region) { transport_->Clear(regions_[region]->memory); }

  // Local: from the return on, operations of the others on this region end in kRevoked, and none
  // is still under way. The memory stays readable for this node.
  Status Revoke(RegionId region);

  // Local, after the death of `node`: from the return on, none of its operations changes this
  // node's memory. (Messages of it may still be handled.)
  Status Fence(NodeId node);

  // The function that receives messages under `id`, on the thread that polls the endpoint. Set on
  // every node before any message is sent.
  using Handler = std::function<void(Endpoint&, const Message&)>;
  void SetHandler(HandlerId id, Handler handler);

  // The sum over this node's endpoints. Their threads must be at rest.
  Traffic traffic() const;
  void ClearTraffic();

  // Collective: ends all traffic in order. Without it, the others may see their operations fail.
  Status Close();

 private:
  friend class Endpoint;
  struct OwnRegion {
    RegionMemory memory;
    std::vector<std::uint64_t> bytes_of_node;
    std::atomic<bool> revoked{false};
  };

  explicit Fabric(Job& job) : job_(job) {}

  // Null for one that was never shared.
  OwnRegion* FindRegion(RegionId id) const {
    return id < kMaxRegions ? regions_[id].get() : nullptr;
  }

  Job& job_;
  std::unique_ptr<NetworkModel> model_;  // null: no model
  RegionId num_regions_ = 0;
  // Does not grow: endpoints look up earlier regions while one is added.
  std::array<std::unique_ptr<OwnRegion>, kMaxRegions> regions_;
  std::vector<Handler> handlers_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  LossWatch loss_watch_;
};

}  // namespace slimgraph
