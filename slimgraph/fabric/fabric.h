// One-sided and two-sided access to the memory of the other nodes: the only way in which data
// travels between nodes. Open this header first, then endpoint.h.
//
// A fabric belongs to one process. Fabric's own functions are called by one thread; each endpoint
// is used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/bandwidth_quota.h"
#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/fabric/file_sync.h"
#include "slimgraph/fabric/handlers.h"
#include "slimgraph/fabric/host_cache.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/network_model.h"
#include "slimgraph/fabric/operation.h"
#include "slimgraph/fabric/transport.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {

struct OwnRegion;
class SharedFile;
class SharedMemory;

// Memory of this node that all nodes can reach under `id`.
struct SharedRegion {
  RegionId id = 0;
  MutableBytes memory;
};

class Fabric {
 public:
  // Collective: all nodes call it.
  static Result<std::unique_ptr<Fabric>> Open(Job& job, const FabricOptions& options);
  // Without Close(), outstanding operations are abandoned here, and other nodes may see their
  // operations fail. The local memory of operations is not accessed any more. Waits for no other
  // node.
  ~Fabric();

  NodeId self() const;
  NodeId nodes() const;
  // False once the job knows that the node is lost; waiting endpoints are woken at that moment.
  bool alive(NodeId node) const;
  std::uint32_t endpoints() const { return static_cast<std::uint32_t>(endpoints_.size()); }
  std::string_view transport() const { return transport_->name(); }
  // Whether the processor's atomics on own regions and the endpoints' atomics are atomic with each
  // other. If not, all nodes must change words that are changed by atomics through endpoints only.
  bool atomics_by_processor() const { return transport_->own_atomics_by_processor(); }
  // Whether shared memory that was never written takes no physical memory.
  bool pages_on_demand() const { return transport_->pages_on_demand(); }
  Endpoint& endpoint(std::uint32_t index) { return *endpoints_[index]; }

  // Collective, in the same order on all nodes: allocates zeroed, page-aligned memory on each node,
  // which all nodes can reach once it returns. Sizes may differ by node. Freed with the fabric.
  // `place_pages` may bind the memory's pages to a socket. It is called before any page is touched,
  // because an adapter touches all pages when it registers the region.
  using PlacePages = std::function<Status(MutableBytes)>;
  Result<SharedRegion> Share(std::uint64_t bytes, const PlacePages& place_pages = {});
  // Collective, like Share, but this node contributes memory that exists already, or none. All
  // nodes may only read it. `memory` must outlive the fabric. `number`: which of the memories that
  // stand on each node of the pool it is, the same on all nodes. If the job has a host's cache,
  // reads use it.
  Result<SharedRegion> ShareStanding(const SharedMemory* memory, std::size_t number);
  // The memory of another node that ShareStanding() has shared, if this process maps it and may use
  // it in place: without operations, which are counted and take time. Otherwise empty.
  Bytes InPlace(NodeId node, RegionId region) const;
  // Collective, like Share, but this node contributes the memory of a file, or none. All nodes may
  // write to it, and Endpoint::PersistentWrite() tells when a write is durable. `flush` is the same
  // on all nodes. `failed` is called on another thread if the file cannot be synced. Then no
  // persistent write to it ends any more, so the job must end.
  Result<SharedRegion> ShareFile(std::shared_ptr<const SharedFile> file, FlushBy flush,
                                 std::function<void(const Error&)> failed);
  // Of this node's file, with FlushBy::kHome. Otherwise null.
  FileSync* sync_of(RegionId region) const;
  std::uint64_t region_bytes(NodeId node, RegionId region) const;
  MutableBytes own_region(RegionId region) const;
  // Zeroes this node's memory of the region, and returns its pages to the system if the transport
  // can. No node may use the region meanwhile. May be called from any thread.
  void Clear(RegionId region);

  // Local: once it returns, operations of other nodes on this region fail with kRevoked, and none
  // is still running. This node can still read the memory.
  Status Revoke(RegionId region);

  // Whether the transport supports Fence(), so that the others can go on when a node has died.
  bool survives_deaths() const { return transport_->survives_deaths(); }
  // Local, after the death of `node`: once it returns, no operation of that node changes this
  // node's memory any more. (Its messages may still be handled.)
  Status Fence(NodeId node);

  // Registers the function that receives messages with this `id`, on the thread that polls the
  // endpoint. Every node must register it before any node sends such messages. The fabric must
  // outlive the registration.
  HandlerRegistration SetHandler(HandlerId id, MessageHandler handler) {
    return handlers_.Set(id, std::move(handler));
  }

  // The sum over this node's endpoints. Their threads must not use them meanwhile.
  Traffic traffic() const;
  void ClearTraffic();

  // Collective: ends all traffic in an orderly way. Without it, other nodes may see operations
  // fail.
  Status Close();

 private:
  Fabric(Job& job, const FabricOptions& options);
  Result<SharedRegion> Publish(RegionId id, OwnRegion& region);
  void StopSyncs();
  Result<SharedRegion> ShareExisting(OwnRegion& region, const SharedMemory* memory, bool writable);

  Job& job_;
  std::unique_ptr<NetworkModel> model_;    // null: no model
  std::unique_ptr<BandwidthQuota> quota_;  // null: none
  std::unique_ptr<HostCache> host_cache_;  // null: none
  std::vector<std::shared_ptr<const SharedFile>> files_;
  NodesInPlace in_place_;
  std::unique_ptr<OwnRegions> regions_;
  HandlerTable handlers_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  LossWatch loss_watch_;
};

}  // namespace slimgraph
