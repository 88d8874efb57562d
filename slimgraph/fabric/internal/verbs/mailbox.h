// An endpoint's messages: its datagrams, and its reliable link with every other endpoint. The
// owner's thread makes progress when it polls. While it does other work for long, a background
// thread receives, acknowledges and resends for it.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/internal/datagrams/reliable_link.h"
#include "slimgraph/fabric/internal/verbs/datagrams.h"

namespace slimgraph {

class VerbsMailbox : private DatagramPort {
 public:
  // An arrival signals `events` if Arm() was called before.
  static Result<std::unique_ptr<VerbsMailbox>> Make(const VerbsDevice& device,
                                                    ibv_comp_channel* events);
  const VerbsMailAddress& address() const { return datagrams_->address(); }

  // Must be called first. `addresses` has the addresses of all endpoints, by node and its endpoint.
  void Start(EndpointAddress self, std::uint32_t endpoints,
             std::span<const VerbsMailAddress> addresses);
  // The faults to inject when sending, from now on; null means none.
  void SetFaults(Faults* faults);

  // Returns false when there is no room now.
  bool Send(EndpointAddress to, const Message& message);
  void Poll(const std::function<void(const Message&)>& receive);
  bool all_acknowledged();

  // Makes the next arrival an event. If there is something to receive already, returns true, and
  // there may be no event.
  bool Arm();
  // When Poll() must be called even if nothing has arrived; 0: never.
  std::uint64_t due_ns() const { return due_ns_; }

  void Lose(NodeId node);

  // Called by the background thread: makes progress if the owner has not polled for a while.
  // Returns whether there was any work.
  bool PollInBackground(std::uint64_t now_ns);

 private:
  struct BufferedMessage {
    Message message;
    std::vector<std::byte> body;
  };

  VerbsMailbox(const VerbsDevice& device, std::unique_ptr<VerbsDatagrams> datagrams);
  std::uint32_t MostBytes(EndpointAddress to) const override;
  Result<std::unique_ptr<SendRing>> MakeRing(std::uint64_t bytes) override;
  std::uint64_t Send(EndpointAddress to, Bytes bytes, const SendRing* ring) override;
  std::uint64_t sent() override { return datagrams_->sent(); }
  std::size_t IndexOf(EndpointAddress peer) const {
    return std::size_t{peer.node} * endpoints_ + peer.endpoint;
  }
  ReliableLink& LinkTo(EndpointAddress peer);
  void Receive(const std::function<void(const Message&)>& receive);
  void Progress();

  // Locked while handlers run, which may send. The background thread only tries to lock it.
  RecursiveMutex mutex_;
  std::unique_ptr<VerbsDatagrams> datagrams_;
  const VerbsDevice& device_;
  Faults no_faults_;
  Faults* faults_ = &no_faults_;
  ReliableLink::Shared shared_;
  std::uint32_t endpoints_ = 0;
  std::span<const VerbsMailAddress> addresses_;
  std::vector<VerbsRoute> routes_;                    // by node and its endpoint
  std::vector<std::unique_ptr<ReliableLink>> links_;  // the same
  std::vector<bool> lost_;                            // by node
  std::deque<BufferedMessage> buffered_;              // received by the background thread
  std::uint64_t due_ns_ = 0;
  std::atomic<std::uint64_t> last_poll_ns_{0};  // when the owner last polled
  std::atomic<bool> parked_{false};             // the owner sleeps until something arrives
};

// The background thread for the mailboxes of a node. It polls rarely, and more rarely when idle.
class VerbsBackgroundPoller {
 public:
  explicit VerbsBackgroundPoller(std::vector<VerbsMailbox*> mailboxes);
  ~VerbsBackgroundPoller();

 private:
  void Run();

  const std::vector<VerbsMailbox*> mailboxes_;
  Mutex mutex_;
  Condition end_;
  bool ending_ = false;
  Thread thread_;
};

}  // namespace slimgraph
