// An endpoint's messages: its datagrams and its correspondence with every other endpoint. Those who
// send and receive look after them when they poll; while they do something else a keeper does, so
// that what has been sent arrives, and what has come is told, whatever its thread is busy with.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "slimgraph/fabric/internal/verbs/correspondence.h"

namespace slimgraph {

class VerbsMailbox {
 public:
  // What has arrived is an event of `events`, if Arm() was called before.
  static Result<std::unique_ptr<VerbsMailbox>> Make(const VerbsDevice& device,
                                                    ibv_comp_channel* events);
  const VerbsMailAddress& address() const { return datagrams_->address(); }

  // Before all else. `addresses`: of all endpoints, by node and its endpoint.
  void Start(EndpointAddress self, std::uint32_t endpoints,
             std::span<const VerbsMailAddress> addresses);
  // Which faults befall what is sent from now on; null: none.
  void SetFaults(Faults* faults);

  // False when there is no room now.
  bool Send(EndpointAddress to, const Message& message);
  void Poll(const std::function<void(const Message&)>& receive);
  bool all_arrived();

  // The next arrival is an event. Not so when there is something to receive already: then true.
  bool Arm();
  // When Poll() has something to do although nothing has arrived; 0: never.
  std::uint64_t due_ns() const { return due_ns_; }

  void Lose(NodeId node);

  // The keeper's turn, if the owner has not been here for a while. Whether there was anything.
  bool Keep(std::uint64_t now_ns);

 private:
  struct Kept {
    Message message;
    std::vector<std::byte> body;
  };

  VerbsMailbox(const VerbsDevice& device, std::unique_ptr<VerbsDatagrams> datagrams);
  VerbsCorrespondence& With(EndpointAddress peer);
  void Receive(const std::function<void(const Message&)>& receive);
  void Progress();

  // Held while handlers run, which may send. The keeper only tries it.
  std::recursive_mutex mutex_;
  std::unique_ptr<VerbsDatagrams> datagrams_;
  Faults no_faults_;
  VerbsCorrespondence::Shared shared_;
  std::uint32_t endpoints_ = 0;
  std::span<const VerbsMailAddress> addresses_;
  std::vector<std::unique_ptr<VerbsCorrespondence>> with_;  // by node and its endpoint
  std::vector<bool> lost_;                                  // by node
  std::deque<Kept> kept_;                                   // received by the keeper
  std::uint64_t due_ns_ = 0;
  std::atomic<std::uint64_t> last_turn_ns_{0};  // of the owner
  std::atomic<bool> parked_{false};             // the owner sleeps until something arrives
};

// The thread that keeps the mailboxes of a node. It looks seldom, and less so when nothing happens.
class VerbsMailKeeper {
 public:
  explicit VerbsMailKeeper(std::vector<VerbsMailbox*> mailboxes);
  ~VerbsMailKeeper();

 private:
  void Run();

  const std::vector<VerbsMailbox*> mailboxes_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace slimgraph
