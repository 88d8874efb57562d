// Where messages for an endpoint arrive: buffers that all senders share (a shared receive queue),
// used up in order of arrival. While there is none, the senders' adapters wait and try again.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/fabric/internal/verbs_queue_pair.h"
#include "slimgraph/fabric/internal/verbs_ring.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

class VerbsInbox {
 public:
  // For messages of `nodes` nodes with as many `endpoints` each.
  static Result<std::unique_ptr<VerbsInbox>> Make(const VerbsDevice& device,
                                                  ibv_comp_channel* events, NodeId nodes,
                                                  std::uint32_t endpoints);

  // Of the queue pairs over which messages come.
  VerbsQueuePair::Shape shape() const;

  void Poll(const std::function<void(const Message&)>& receive);

  // The next arrival is an event. True when something has arrived already.
  bool Arm();

 private:
  // One that sends: its pieces have to come in order.
  struct Sender {
    std::uint32_t next = 0;
    std::vector<std::byte> begun;  // of a message that has not come entirely
  };

  VerbsInbox() = default;
  void PostBuffer(std::uint64_t index);
  void Take(Bytes piece, const std::function<void(const Message&)>& receive);
  bool Fetch();

  std::uint32_t endpoints_ = 0;
  std::vector<Sender> senders_;  // by node and endpoint
  std::unique_ptr<VerbsRing> buffers_;
  std::byte* base_ = nullptr;
  VerbsCompletions completions_;
  VerbsReceives receives_;
  std::vector<ibv_wc> arrived_;  // found, not handed on yet
};

}  // namespace slimgraph
