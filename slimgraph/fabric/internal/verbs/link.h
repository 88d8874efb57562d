// An endpoint's queue pair to a node: made when it is first used, and made anew after an error.
// Requests end in order, and of those posted together only the last one tells when it is done.
#pragma once

#include <vector>

#include "slimgraph/fabric/internal/verbs/setup.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

// Requests that go out with one doorbell.
class VerbsChain {
 public:
  void Clear();
  // A request of which the memory is filled in. The reference holds until the next Add().
  ibv_send_wr& Add(const void* memory, std::uint32_t bytes, std::uint32_t key);
  std::size_t size() const { return requests_.size(); }
  // Ties the requests together; the last one is signaled and named `id`.
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
    std::vector<VerbsLink*> active{};  // those that Progress() has something to do for
    VerbsChain chain{};
  };

  VerbsLink(Shared& shared, const VerbsContact& contact, const TcpHello& hello, std::uint32_t lane,
            std::uint32_t depth);
  virtual ~VerbsLink() = default;
  VerbsLink(const VerbsLink&) = delete;

  bool connecting() const { return state_ == State::kConnecting; }
  bool lost() const { return state_ == State::kLost; }

  // Takes note of what has ended, and asks again where no answer has come. False when there is
  // nothing to look after any more: until it is active again, it need not be called.
  bool Progress();
  // From now on the next end of a request is an event on the channel's `events`.
  void Arm();
  // From the other node's service, if `reply` is for this link.
  void Take(const VerbsReply& reply);
  // The node is dead: all ends, and so does all that follows.
  void Lose();

  // How often requests have been posted.
  std::uint64_t posts() const { return posts_; }

 protected:
  bool ready() const { return state_ == State::kReady; }
  std::uint32_t inline_bytes() const { return pair_.inline_bytes(); }
  // How many more requests the queue holds.
  std::size_t room() const { return depth_ - in_flight_; }
  Shared& shared() const { return shared_; }

  void Connect();
  // Posts the shared chain, if there is anything in it.
  void PostChain();

  // The oldest `count` requests have ended well.
  virtual void OnDone(std::size_t count) = 0;
  // There is a queue pair; OnRoom() follows.
  virtual void OnConnected(const VerbsReply& reply) = 0;
  // More can be posted, on a queue that has emptied or just been made.
  virtual void OnRoom() = 0;
  // The oldest request has failed, and what is behind it is not done, or not known to be. The queue
  // pair is gone; Connect() makes the next.
  virtual void OnBroken(Outcome outcome) = 0;
  // Nothing that waits can be done.
  virtual void OnHopeless(Outcome outcome) = 0;

 private:
  enum class State { kIdle, kConnecting, kReady, kLost };

  Status MakePair();
  void Ask();
  void Disconnect();
  bool PollCompletions();

  Shared& shared_;
  const VerbsContact& contact_;
  const TcpHello hello_;
  const std::uint32_t lane_;
  const std::uint32_t depth_;
  State state_ = State::kIdle;
  bool listed_ = false;
  std::uint64_t asked_ns_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t posted_ = 0;  // the number of the last request; they count on over all queue pairs
  std::size_t in_flight_ = 0;
  VerbsCompletions completions_;
  VerbsQueuePair pair_;  // destroyed before its completion queue
};

}  // namespace slimgraph
