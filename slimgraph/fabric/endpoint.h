// One thread's access to other nodes' memory. Operations are collected, go out together when Ring()
// is called, and end later; Poll() tells. Nothing here blocks but Wait() and Flush().
//
// Operations on one node are carried out in the order in which they were collected; between nodes
// there is no order. Within an operation there is none either; but where offset and length are
// multiples of 8 and the length is at most kWholeWordsBytes, each of its words is read or written
// whole, and a write is not begun before all of it has arrived (over verbs that is the adapter's
// affair, and Soft-RoCE's that of its kernel's memcpy). Messages from one endpoint to another
// arrive in order. Between operations and messages there is none: a message that tells of a write
// is sent after the write's completion.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/due_queue.h"
#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/message.h"
#include "slimgraph/fabric/operation.h"
#include "slimgraph/fabric/transport.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {

class Fabric;

// Whether the success of an operation is reported. A failure always is.
enum class Signal : bool { kNo, kYes };

class Endpoint {
 public:
  Endpoint(Fabric& fabric, std::uint32_t index);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  EndpointAddress address() const { return address_; }

  // --- one-sided. The memory named stays valid, and is not looked at, until the operation's end
  // is known: by its completion, or by that of a later one on the same node. Shorter than 4 GiB.
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

  // Of the operations collected for that node since the last Ring(), the last one's success is
  // reported, under that tag: it tells of all before it.
  void SignalLast(NodeId node, std::uint64_t tag);

  // The doorbell: what was collected goes out.
  void Ring();

  // Appends what has ended since the last call, and runs the handlers of messages that have come.
  // Returns how many completions and messages there were.
  std::size_t Poll(std::vector<Completion>& completions);

  // Sleeps until Poll() has something to tell or to run, at most `limit`; true if it has. Costs
  // next to no processor time.
  bool Wait(std::chrono::nanoseconds limit);
  // Ends a Wait() of this endpoint's thread, from any thread.
  void Wake();

  // Waits until `done()`, at most `limit`; what it comes to. Handlers run meanwhile, completions
  // are kept for Poll().
  template <typename Done>
  bool WaitUntil(Done done, std::chrono::nanoseconds limit);

  // Rings, then waits until nothing is outstanding; the first failure, or kOk. Completions that
  // were not polled before are not reported any more.
  Outcome Flush();

  // Operations that have gone out and whose end is not known yet.
  std::size_t outstanding() const { return outstanding_; }

  // --- two-sided. A handler may send and ring, but not poll, wait or flush. At most
  // kMaxMessageBytes; queued when there is no room. The number, counted from 1 for each receiver,
  // is what acknowledged() compares with.
  std::uint32_t Send(EndpointAddress to, HandlerId handler, Bytes body);

  // Whether all messages have left. Those that found no room leave while this endpoint polls.
  bool all_sent() const { return backlogged_.empty(); }

  // How many of the messages to `peer` are known to have been handled there. The word of it rides
  // on whatever `peer` sends us; alone it comes only after every 64 messages.
  std::uint32_t acknowledged(EndpointAddress peer) const;

  // --- accounts
  void SetStage(StageId stage) { stage_ = stage; }
  StageId stage() const { return stage_; }
  const Traffic& traffic() const { return traffic_; }
  void ClearTraffic() { traffic_.Clear(); }
  // How often an adapter's doorbell was rung for operations, where there is an adapter.
  std::optional<std::uint64_t> posts() const { return channel_->posts(); }

  // What shall go wrong, for tests.
  Faults& faults() { return faults_; }

 private:
  // For one node, and of how many bytes.
  struct Collected {
    std::vector<Operation> operations;
    std::uint64_t bytes = 0;
  };
  // What a part takes on the wire.
  struct Wire {
    std::uint64_t sent;
    std::uint64_t returned;
  };
  // The operations of a doorbell on one node, or as many of them as travel together.
  struct Part {
    NodeId node = 0;
    std::vector<Operation> operations;
    std::uint32_t fail_at = 0;  // an injected fault: this one fails, and no later one is tried
    bool injected = false;
    bool goes_round = false;  // on the own node, but through the channel
    std::uint64_t due_ns = 0;
  };
  struct EndedPart {
    std::uint64_t id;
    Outcome outcome;
    std::uint32_t failed_index;
  };
  struct HeldMessage {
    Message message;
    std::vector<std::byte> body;
  };
  struct Correspondence {
    std::uint32_t sent = 0;
    std::uint32_t handled = 0;
    std::uint32_t told = 0;          // of `handled`, in the last message to the peer
    std::uint32_t acknowledged = 0;  // of `sent`, by the peer
    std::uint64_t last_due_ns = 0;
    std::deque<HeldMessage> backlog;  // found no room yet
  };

  Operation& Collect(NodeId node, std::uint64_t length);
  void RingNode(NodeId node);
  bool PostPart(NodeId node, std::size_t first, std::size_t count, bool doomed);
  bool GoesRound(const Part& part) const;
  bool PostHere(const Part& part, std::uint64_t id, bool doomed);
  Wire Count(const Part& part);
  void Progress();
  void Finish(std::uint64_t id, Outcome outcome, std::uint32_t failed_index);
  void Receive(const Message& message);
  void Deliver(const Message& message);
  void SendBacklog();
  bool HasNews() const { return !ready_.empty() || delivered_ > 0; }
  void SleepUntil(std::uint64_t deadline_ns);
  std::size_t IndexOf(EndpointAddress peer) const;
  std::uint64_t TakePart();

  Fabric& fabric_;
  EndpointAddress address_;
  Faults faults_;
  std::unique_ptr<Channel> channel_;
  Traffic traffic_;
  StageId stage_ = kUnnamedStage;

  std::vector<Collected> collected_;  // by node
  std::vector<NodeId> touched_;       // nodes with collected operations
  std::vector<Part> parts_;           // by id; reused
  std::vector<std::uint64_t> free_parts_;
  std::vector<std::uint64_t> last_due_ns_;  // by node
  std::vector<Channel::PartResult> ended_;
  DueQueue<EndedPart> held_parts_;
  DueQueue<HeldMessage> held_messages_;
  std::vector<Completion> ready_;
  std::vector<Correspondence> correspondences_;  // by receiving endpoint of the job
  std::vector<std::uint32_t> backlogged_;
  std::size_t outstanding_ = 0;
  std::size_t num_going_round_ = 0;
  std::size_t delivered_ = 0;  // messages handled since the last Poll
  std::atomic<bool> woken_{false};
};

template <typename Done>
bool Endpoint::WaitUntil(Done done, std::chrono::nanoseconds limit) {
  constexpr std::uint64_t kSpinNs = 5'000;
  const std::uint64_t start_ns = NowNs();
  const std::uint64_t deadline_ns = start_ns + static_cast<std::uint64_t>(limit.count());
  while (true) {
    Progress();
    if (done()) return true;
    const std::uint64_t now = NowNs();
    if (now >= deadline_ns) return false;
    if (now >= start_ns + kSpinNs) SleepUntil(deadline_ns);
  }
}

}  // namespace slimgraph
