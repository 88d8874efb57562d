// What a transport provides to the endpoints. The endpoints add counting, splitting, fault
// injection and the network model once for all transports. To add a transport, implement these two
// classes and name it in MakeTransport().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

class Job;
class SharedMemory;

// The side of a transport that one endpoint uses, in one thread at a time. Only Wake() may be
// called from any thread, also from a signal handler's thread.
class Channel {
 public:
  virtual ~Channel() = default;

  // Starts a part: operations on one node, in order, checked against that node's region sizes. The
  // own node is allowed only if own_atomics_by_processor() is false. Poll returns `id` exactly
  // once, with the first operation that failed; the operations and their memory must stay valid
  // until then. Never blocks: operations that do not fit are queued. `continues` means that the
  // part belongs to the same doorbell as the part posted to this node before it. If that part
  // failed, nothing of this part is executed, and it ends with kFlushed.
  virtual void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) = 0;

  struct PartResult {
    std::uint64_t id;
    Outcome outcome;  // kOk, or the outcome of operation `failed_index`
    std::uint32_t failed_index;
  };
  // Appends the results of parts that have ended, and passes every message that has arrived to
  // `receive`; its body is valid during the call. Never blocks. Parts to one node end in order.
  virtual void Poll(std::vector<PartResult>& ended,
                    const std::function<void(const Message&)>& receive) = 0;

  // Sends the message, or returns false when there is no room now (Poll makes room). Messages from
  // one endpoint to another arrive in order. A message to a lost node is dropped. `to` may be on
  // the own node. May be called from within `receive`.
  virtual bool Send(EndpointAddress to, const Message& message) = 0;

  // Sleeps until Poll may have something to do, Wake() is called, or `limit` has passed. Uses no
  // processor time.
  virtual void Park(std::chrono::nanoseconds limit) = 0;
  virtual void Wake() = 0;

  // Whether messages travel as datagrams that can get lost. Then the transport itself drops
  // datagrams where Faults::DrawLoss() says so.
  virtual bool loses_datagrams() const { return false; }

  // How often operations were posted to an adapter; nothing without an adapter.
  virtual std::optional<std::uint64_t> posts() const { return std::nullopt; }
};

// Memory that a transport can serve to other nodes.
struct RegionMemory {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  bool writable = true;  // false: other nodes may only read it
  bool owned = true;     // false: the transport has not allocated it
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;

  // Allocates zeroed, page-aligned memory of the kind that this transport serves best.
  virtual Result<RegionMemory> Allocate(std::uint64_t bytes) = 0;
  // Serves memory that exists already. `memory` must outlive the transport.
  virtual Result<RegionMemory> Adopt(const SharedMemory& memory, bool writable);
  // Only what Allocate() has returned. May be called only after Stop().
  virtual void Free(const RegionMemory& memory) = 0;
  // Zeroes memory that nobody uses meanwhile. Its pages go back to the system unless an adapter
  // pins them.
  virtual void Clear(const RegionMemory& memory);

  // Collective: publishes region `id` of every node; `bytes_of_node` has its size on each. Once it
  // has returned on two nodes, each can access the other's region from any endpoint. Endpoints may
  // use other regions meanwhile.
  virtual Status Publish(RegionId id, const RegionMemory& mine,
                         std::span<const std::uint64_t> bytes_of_node) = 0;

  // The memory of another node's region, if this process can read it without an operation.
  virtual Bytes Mapped(NodeId /*node*/, RegionId /*region*/) const { return {}; }

  // Local: operations of other nodes on this node's region `id` that start after the return fail
  // with kRevoked. Operations that started earlier have ended by then.
  virtual Status Revoke(RegionId id) = 0;

  // Whether the others can go on when a node has died, so that Fence() is supported.
  virtual bool survives_deaths() const { return false; }
  // Local, after the death of `node`: returns when none of its operations is executed here any
  // more.
  virtual Status Fence(NodeId) {
    return EnvironmentError("{} cannot go on when a node has died", name());
  }

  // Whether other nodes' atomics on this node's memory and the atomics of its own processors are
  // atomic with each other. If not, the own node's atomics use the channel too.
  virtual bool own_atomics_by_processor() const { return true; }

  // Whether a page of shared memory uses no physical memory before it is written, and after
  // Clear().
  virtual bool pages_on_demand() const { return true; }

  // `faults` belongs to the endpoint and outlives the channel.
  virtual std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& faults) = 0;

  // Collective, after all channels are closed: calls Stop() once all nodes have called it.
  virtual Status Close() = 0;

  // Local; repeated calls have no effect. Once it returns, this process executes nothing on its
  // regions for other nodes, and accesses no operation that a channel was given. Afterwards only
  // regions are freed and channels closed.
  virtual void Stop() = 0;
};

}  // namespace slimgraph
