// What the other nodes of a simulation reach of a node: its regions, and the inboxes of its
// endpoints. All nodes are threads of one process, so they use it directly. It outlives its node.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

struct SimMail {
  Message message;
  std::vector<std::byte> body;
};

struct SimDatagram {
  EndpointAddress from;
  std::vector<std::byte> bytes;
};

// What has arrived for an endpoint and was not polled yet.
struct SimInbox {
  std::vector<Channel::PartResult> ended;
  std::deque<SimMail> mail;
  // By sending endpoint of the job: how many of its messages are on their way or in `mail`.
  std::vector<std::uint32_t> unread;
  bool woken = false;
  sim::WaitQueue sleepers;

  // If messages travel as datagrams, these are used instead of `mail` and `unread`.
  std::vector<SimDatagram> datagrams;
  std::size_t buffers = 0;  // for datagrams; those that find none are lost
  bool armed = false;       // the next datagram wakes the endpoint

  void Wake() {
    woken = true;
    sim::Scheduler::Current()->WakeAll(sleepers);
  }
};

struct SimRegion {
  RegionMemory memory;
  bool revoked = false;
  std::uint32_t executing = 0;  // operations that have begun and not ended
};

struct SimTarget {
  // Of node `number` of the simulation, in a job of `nodes` nodes.
  SimTarget(NodeId number, NodeId nodes, std::uint32_t endpoints)
      : node(number), inboxes(endpoints) {
    for (SimInbox& inbox : inboxes) inbox.unread.resize(std::size_t{nodes} * endpoints);
  }

  // The number of an endpoint among those of all nodes.
  std::size_t NumberOf(EndpointAddress address) const {
    return std::size_t{address.node} * inboxes.size() + address.endpoint;
  }

  const NodeId node;     // in the simulation
  bool stopped = false;  // executes nothing any more, and receives nothing
  std::map<RegionId, SimRegion> regions;
  std::set<NodeId> fenced;                    // nodes of the job
  std::map<NodeId, std::uint32_t> executing;  // by node of the job: operations that have begun
  std::deque<SimInbox> inboxes;               // by endpoint

  bool gone() const { return stopped || sim::Scheduler::Current()->ended(node); }
};

constexpr std::uint64_t kSimTryAgainNs = 1'000'000;  // over a link that is cut

// How long a datagram, a message or an operation takes to the other node.
inline std::uint64_t SimLatencyNs(std::uint64_t bytes) {
  constexpr std::uint64_t kLeastNs = 500;
  constexpr std::uint64_t kBytesPerNs = 8;
  sim::Scheduler& scheduler = *sim::Scheduler::Current();
  if (scheduler.calibrated()) return 1;  // the network model knows how long
  const std::uint64_t spread_ns = scheduler.Random(64) == 0 ? 500'000 : 2'000;
  return kLeastNs + scheduler.Random(spread_ns) + bytes / kBytesPerNs;
}

}  // namespace slimgraph
