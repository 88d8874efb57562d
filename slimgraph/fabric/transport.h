// What a transport provides to the endpoints, which add counting, splitting, fault injection and
// the network model once for all of them. To add a transport, implement these two classes and name
// it in MakeTransport().
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

// The side of a transport that one endpoint uses. One thread at a time; only Wake() may be called
// from any thread, and from a signal handler's thread too.
class Channel {
 public:
  virtual ~Channel() = default;

  // Starts a part: operations on one node (the own one only if own_atomics_by_processor() is
  // false), in order, checked against that node's region sizes. `id` is given back by Poll exactly
  // once, with the first operation that failed. Operations and their memory stay valid until then.
  // Never blocks: what does not fit is queued. `continues`: it is of the same doorbell as the part
  // posted to this node before it, and if that one failed, nothing of this one is carried out: it
  // ends in kFlushed.
  virtual void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) = 0;

  struct PartResult {
    std::uint64_t id;
    Outcome outcome;  // kOk, or how operation `failed_index` ended
    std::uint32_t failed_index;
  };
  // Appends the parts that have ended, and hands every message that has arrived to `receive`,
  // whose body is valid during the call. Never blocks. Parts to one node end in order.
  virtual void Poll(std::vector<PartResult>& ended,
                    const std::function<void(const Message&)>& receive) = 0;

  // Sends, or returns false when there is no room now (Poll makes room). Messages from one endpoint
  // to another arrive in order. A message to a lost node vanishes. `to` may be on the own node. May
  // be called from within `receive`.
  virtual bool Send(EndpointAddress to, const Message& message) = 0;

  // Sleeps until Poll may have something to do, Wake() is called or the time is over. Costs no
  // processor time.
  virtual void Park(std::chrono::nanoseconds limit) = 0;
  virtual void Wake() = 0;

  // Whether messages go as datagrams that can get lost, which is then where Faults::Loses() counts.
  virtual bool loses_datagrams() const { return false; }

  // How often operations have been handed to an adapter, where there is one.
  virtual std::optional<std::uint64_t> posts() const { return std::nullopt; }
};

// Memory that a transport can serve to others.
struct RegionMemory {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  int shared_fd = -1;  // shm: the memory's file
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;

  // Zeroed memory, aligned to a page, in the form that this transport serves best.
  virtual Result<RegionMemory> Allocate(std::uint64_t bytes) = 0;
  virtual void Free(const RegionMemory& memory) = 0;
  // Zeroes it while nobody uses it; its pages go back to the system where no adapter holds them.
  virtual void Clear(const RegionMemory& memory);

  // Collective: region `id` of every node, its size on each given in `bytes_of_node`. When it has
  // returned on two nodes, each can reach the other by operations on `id`, from any endpoint, and
  // endpoints may use other regions meanwhile.
  virtual Status Publish(RegionId id, const RegionMemory& mine,
                         std::span<const std::uint64_t> bytes_of_node) = 0;

  // Local: operations of others on this node's region `id` that start after the return end in
  // kRevoked, and none that started before is still under way.
  virtual Status Revoke(RegionId id) = 0;

  // Local, of a node that has died: returns when nothing of it is carried out here any more. Not
  // every transport can tell.
  virtual Status Fence(NodeId) {
    return EnvironmentError("{} cannot go on when a node has died", name());
  }

  // Whether the atomics that others bring here and those of this node's processors are atomic with
  // each other. Where they are not, the own node's go through the channel too.
  virtual bool own_atomics_by_processor() const { return true; }

  // Whether a page of shared memory takes none until it is written, and after Clear().
  virtual bool pages_on_demand() const { return true; }

  // `faults`: the endpoint's, which outlive the channel.
  virtual std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& faults) = 0;

  // Collective, after all channels are closed.
  virtual Status Close() = 0;
};

}  // namespace slimgraph
