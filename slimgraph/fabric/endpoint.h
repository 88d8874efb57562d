// One thread's access to other nodes' memory. Operations are collected, sent together by Ring(),
// and complete later; Poll() reports completions. Only Wait(), WaitUntil() and Flush() block.
//
// Operations on one node are executed in the order in which they were collected; between nodes
// there is no order. Within an operation there is no order either. But if offset and length are
// multiples of 8 and the length is at most kWholeWordsBytes, each word is read or written whole,
// and a write does not begin before all of it has arrived. (Over verbs this depends on the adapter,
// and for Soft-RoCE on its kernel's memcpy.) Messages from one endpoint to another arrive in order.
// Operations and messages are not ordered with each other: send a message that announces a write
// only after the write's completion.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/delay_queue.h"
#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/host_cache.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/operation.h"
#include "slimgraph/fabric/transport.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {

class BandwidthQuota;
class HandlerTable;
class Job;
class NetworkModel;
class OwnRegions;
class PersistentWrites;

// What an endpoint uses of its fabric, which must outlive it.
struct EndpointContext {
  NodeId self = 0;
  NodeId nodes = 0;
  std::uint32_t endpoints = 0;
  Transport& transport;
  HandlerTable& handlers;
  const OwnRegions& regions;
  const Job& job;
  NetworkModel* model = nullptr;    // null: no network model
  BandwidthQuota* quota = nullptr;  // null: the job has none
  HostCache* host_cache = nullptr;  // null: the job has none
};

// Whether the success of an operation is reported. Failures are always reported.
enum class Signal : bool { kNo, kYes };

// Whether the read behind a persistent write goes out with the same doorbell. If not, it waits for
// the write's end.
enum class Batched : bool { kNo, kYes };

class Endpoint {
 public:
  Endpoint(const EndpointContext& context, std::uint32_t index);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  EndpointAddress address() const { return address_; }

  // --- one-sided. The caller's memory must stay valid and untouched until the operation is known
  // to have ended: by its own completion, by that of a later operation on the same node, or by the
  // fabric's destruction. Lengths are below 4 GiB.
  void Read(NodeId node, RegionId region, std::uint64_t offset, MutableBytes into,
            std::uint64_t tag = 0, Signal signal = Signal::kYes);
  void Write(NodeId node, RegionId region, std::uint64_t offset, Bytes from, std::uint64_t tag = 0,
             Signal signal = Signal::kYes);
  // `old_value` may be null.
  void CompareSwap(NodeId node, RegionId region, std::uint64_t offset, std::uint64_t expected,
                   std::uint64_t desired, std::uint64_t* old_value, std::uint64_t tag = 0,
                   Signal signal = Signal::kYes);
  void FetchAdd(NodeId node, RegionId region, std::uint64_t offset, std::uint64_t add,
                std::uint64_t* old_value, std::uint64_t tag = 0, Signal signal = Signal::kYes);

  // Like Write(), into memory of a file (Fabric::ShareFile). Its completion tells that the write is
  // durable, and so are all earlier writes of this endpoint to that region of `node`. With
  // FlushBy::kHome, the endpoint of the same number on `node` must be polled meanwhile. Await the
  // completion before Fabric::Close().
  void PersistentWrite(NodeId node, RegionId region, std::uint64_t offset, Bytes from,
                       std::uint64_t tag = 0, Batched batched = Batched::kYes);

  // The last operation that was collected for `node` since the last Ring() is reported when it
  // succeeds, under `tag`. Its completion implies that all earlier operations on that node are
  // done.
  void SignalLast(NodeId node, std::uint64_t tag);

  // The doorbell: sends all collected operations.
  void Ring();

  // Appends the completions since the last call, and runs the handlers of messages that have
  // arrived. Returns the number of completions and messages.
  std::size_t Poll(std::vector<Completion>& completions);

  // Sleeps until Poll() has a completion or a message, for at most `limit`; returns whether it has.
  // Uses almost no processor time.
  bool Wait(std::chrono::nanoseconds limit);
  // Wakes this endpoint's thread from Wait(). May be called from any thread.
  void Wake();

  // Waits until `done()` is true, for at most `limit`; returns whether it is. Handlers run
  // meanwhile; completions are kept for Poll().
  template <typename Done>
  bool WaitUntil(Done done, std::chrono::nanoseconds limit);

  // Rings, then waits until no operation is outstanding. Returns the first failure, or kOk.
  // Completions that were not polled before are discarded.
  Outcome Flush();

  // The number of operations that were sent and have not completed.
  std::size_t outstanding() const;
  // For descriptions of waits: the nodes of all outstanding operations, and of all receivers of
  // messages that have not been sent.
  std::vector<NodeId> AwaitedNodes() const;

  // --- two-sided. A handler may send and ring, but may not poll, wait or flush. A body has at most
  // kMaxMessageBytes. Messages are queued while the receiver has no room. Returns the message's
  // number, counted from 1 for each receiver, which acknowledged() can be compared with.
  std::uint32_t Send(EndpointAddress to, HandlerId handler, Bytes body);

  // Whether all messages have been sent. Queued messages are sent when this endpoint polls.
  bool all_sent() const { return backlogged_.empty(); }

  // How many of the messages to `peer` are known to have been handled there. Acknowledgements are
  // piggybacked on messages from `peer`; if it sends none, an acknowledgement is sent on its own
  // after every 64 messages.
  std::uint32_t acknowledged(EndpointAddress peer) const;

  // --- accounts
  void SetStage(StageId stage) { stage_ = stage; }
  StageId stage() const { return stage_; }
  const Traffic& traffic() const { return traffic_; }
  void ClearTraffic() { traffic_.Clear(); }
  // How often an adapter's doorbell was rung for operations; nothing without an adapter.
  std::optional<std::uint64_t> posts() const { return channel_->posts(); }

  // Faults to inject, for tests.
  Faults& faults() { return faults_; }

 private:
  friend class PersistentWrites;
  // The operations collected for one node, and their bytes.
  struct Collected {
    std::vector<Operation> operations;
    std::uint64_t bytes = 0;
  };
  // The bytes of a part on the wire.
  struct Wire {
    std::uint64_t sent;
    std::uint64_t returned;
  };
  // A doorbell's operations on one node, or as many of them as are sent together.
  struct Part {
    NodeId node = 0;
    std::vector<Operation> operations;
    // Of an injected fault: the operation with this index fails, and later ones are not tried.
    std::uint32_t fail_at = 0;
    bool injected = false;
    bool loopback = false;  // on the own node, but executed through the channel
    std::uint64_t due_ns = 0;
    StageId stage = kUnnamedStage;  // under which it is counted if the host's cache answers
  };
  struct EndedPart {
    std::uint64_t id;
    Outcome outcome;
    std::uint32_t failed_index;
  };
  // Parts on one node end in the order in which they were posted, by the channel or by the cache.
  struct EndpointCache {
    struct Posted {
      EndedPart part;
      bool ended = false;
    };
    HostCache::Reader reader;
    std::vector<std::deque<Posted>> posted;  // by node
    std::vector<HostCache::Reader::Answer> answers;
  };
  struct BufferedMessage {
    Message message;
    std::vector<std::byte> body;
    std::uint64_t send_at_ns = 0;  // by SharedNowNs(), if a quota delays it
  };
  struct PeerState {
    std::uint32_t sent = 0;
    std::uint32_t handled = 0;
    std::uint32_t reported = 0;      // the value of `handled` in the last message to the peer
    std::uint32_t acknowledged = 0;  // how many of `sent` the peer has acknowledged
    std::uint64_t last_due_ns = 0;
    // Messages for which the receiver or the quota had no room yet; null: none. An empty deque
    // takes memory, too.
    std::unique_ptr<std::deque<BufferedMessage>> backlog;
  };

  Operation& Collect(NodeId node, std::uint64_t length);
  void RingNode(NodeId node);
  bool PostPart(NodeId node, std::size_t first, std::size_t count, bool doomed);
  bool SendPart(std::uint64_t id, bool doomed, bool continues);
  bool NeedsLoopback(const Part& part) const;
  bool ExecuteLocally(const Part& part, std::uint64_t id, bool doomed);
  Wire Count(const Part& part);
  void Progress();
  void End(std::uint64_t id, Outcome outcome, std::uint32_t failed_index);
  void Finish(std::uint64_t id, Outcome outcome, std::uint32_t failed_index);
  void HandleCacheAnswers();
  void Receive(const Message& message);
  void Deliver(const Message& message);
  void SendBacklog();
  PersistentWrites& persistent_writes();
  bool HasNews() const { return !ready_.empty() || delivered_ > 0; }
  void SleepUntil(std::uint64_t deadline_ns);
  std::size_t IndexOf(EndpointAddress peer) const;
  std::uint64_t AllocatePart();

  const EndpointContext context_;
  EndpointAddress address_;
  Faults faults_;
  std::unique_ptr<Channel> channel_;
  Traffic traffic_;
  StageId stage_ = kUnnamedStage;

  std::vector<Collected> collected_;  // by node
  bool doorbell_continues_ = false;   // a part of this doorbell was sent to the same node
  std::vector<NodeId> touched_;       // nodes with collected operations
  std::vector<Part> parts_;           // by id; reused
  std::vector<std::uint64_t> free_parts_;
  std::vector<std::uint64_t> last_due_ns_;  // by node
  std::vector<Channel::PartResult> ended_;
  DelayQueue<EndedPart> delayed_parts_;
  DelayQueue<BufferedMessage> delayed_messages_;
  std::vector<Completion> ready_;
  std::vector<PeerState> peer_states_;  // by receiving endpoint of the job
  std::vector<std::uint32_t> backlogged_;
  std::unique_ptr<EndpointCache> cache_;                 // null: the job has no host's cache
  std::unique_ptr<PersistentWrites> persistent_writes_;  // null: none so far
  std::size_t outstanding_ = 0;
  std::size_t num_loopback_parts_ = 0;
  std::size_t delivered_ = 0;  // messages handled since the last Poll
  bool handling_ = false;      // this Progress() has called BeginUse()
  std::atomic<bool> woken_{false};
};

template <typename Done>
bool Endpoint::WaitUntil(Done done, std::chrono::nanoseconds limit) {
  constexpr std::uint64_t kSpinNs = kMaySpin ? 5'000 : 0;
  const std::uint64_t start_ns = SharedNowNs();
  const std::uint64_t deadline_ns = start_ns + static_cast<std::uint64_t>(limit.count());
  while (true) {
    Progress();
    if (done()) return true;
    const std::uint64_t now = SharedNowNs();
    if (now >= deadline_ns) return false;
    if (now >= start_ns + kSpinNs) SleepUntil(deadline_ns);
  }
}

}  // namespace slimgraph
