// An endpoint's queue pair to a node. It is made at its first use, and made anew after an error.
// Requests complete in order. Of requests that are posted together only the last one is signaled.
#pragma once

#include <vector>

#include "slimgraph/fabric/internal/verbs/setup.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

// Work requests that are posted with one doorbell.
class VerbsChain {
 public:
  void Clear();
  // Adds a request whose memory is set; the caller sets the rest. The reference is valid until the
  // next Add().
  ibv_send_wr& Add(const void* memory, std::uint32_t bytes, std::uint32_t key);
  std::size_t size() const { return requests_.size(); }
  // Links the requests; the last one is signaled and has the id `id`.
  ibv_send_wr* Close(std::uint64_t id);

 private:
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> pieces_;
};

class VerbsLink {
 public:
  // What the links of a channel share.
  struct Shared {
    const VerbsDevice& device;
    ibv_comp_channel* events;
    const DatagramSocket& socket;
    std::vector<VerbsLink*> active{};  // those for which Progress() has work
    VerbsChain chain{};
  };

  VerbsLink(Shared& shared, const VerbsContact& contact, const VerbsHello& hello,
            std::uint32_t lane, std::uint32_t depth);
  virtual ~VerbsLink() = default;
  VerbsLink(const VerbsLink&) = delete;

  bool connecting() const { return state_ == State::kConnecting; }
  bool lost() const { return state_ == State::kLost; }

  // Polls for completions, and repeats an unanswered connection request. Returns false if there is
  // nothing left to poll; then it need not be called until the link is in `active` again.
  bool Progress();
  // Makes the next completion an event on the channel's `events`.
  void Arm();
  // Handles a reply from the other node's service, if `reply` is for this link.
  void OnReply(const VerbsReply& reply);
  // The node is dead: all outstanding and later requests fail.
  void Lose();

  // How often requests have been posted.
  std::uint64_t posts() const { return posts_; }

 protected:
  bool ready() const { return state_ == State::kReady; }
  std::uint32_t inline_bytes() const { return pair_.inline_bytes(); }
  // How many more requests fit into the queue.
  std::size_t room() const { return depth_ - in_flight_; }
  Shared& shared() const { return shared_; }

  void Connect();
  // Posts the requests of the shared chain, if any.
  void PostChain();

  // The oldest `count` requests have succeeded.
  virtual void OnDone(std::size_t count) = 0;
  // The queue pair is connected; OnRoom() is called next.
  virtual void OnConnected(const VerbsReply& reply) = 0;
  // More requests can be posted, because some have completed or the queue pair is new.
  virtual void OnRoom() = 0;
  // The oldest request has failed. Requests after it were not executed, or it is unknown whether
  // they were. The queue pair is destroyed; Connect() makes the next one.
  virtual void OnError(Outcome outcome) = 0;
  // Nothing that is outstanding can succeed any more.
  virtual void OnUnusable(Outcome outcome) = 0;

 private:
  enum class State { kIdle, kConnecting, kReady, kLost };

  Status MakePair();
  void SendRequest();
  void Disconnect();
  bool PollCompletions();

  Shared& shared_;
  const VerbsContact& contact_;
  const VerbsHello hello_;
  const std::uint32_t lane_;
  const std::uint32_t depth_;
  State state_ = State::kIdle;
  bool listed_ = false;
  std::uint64_t requested_ns_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t posted_ = 0;  // number of the last request; numbers continue over all queue pairs
  std::size_t in_flight_ = 0;
  VerbsCompletions completions_;
  VerbsQueuePair pair_;  // must be destroyed before its completion queue
};

}  // namespace slimgraph
