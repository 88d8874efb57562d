// An endpoint's side of the mpi transport: passes parts and messages to the service thread.
#pragma once

#include "slimgraph/fabric/internal/mpi/service.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class MpiChannel : public Channel {
 public:
  MpiChannel(MpiService& service, std::uint32_t endpoint, std::uint32_t endpoints);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override { mailbox_.Sleep(limit); }
  void Wake() override { mailbox_.Wake(); }

 private:
  // Flow control: MPI buffers everything that it is given. So that a slow receiver is not flooded,
  // a sender stops until the receiver has reported bytes as handled (credits).
  struct PeerState {
    std::uint64_t unhandled_bytes = 0;   // of the bytes sent to the peer
    std::uint64_t unreported_bytes = 0;  // of the bytes handled here and not reported to the peer
                                         // yet
  };
  PeerState& StateOf(EndpointAddress peer) {
    return peer_states_[peer.node * endpoints_ + peer.endpoint];
  }
  void Receive(const MpiFrames::Arrived& arrived,
               const std::function<void(const Message&)>& receive);
  void CountHandled(EndpointAddress peer, std::uint64_t bytes);

  MpiService& service_;
  MpiMailbox& mailbox_;
  const std::uint32_t endpoint_;
  const std::uint32_t endpoints_;
  MpiMailbox::Mail mail_;
  std::vector<PeerState> peer_states_;
};

}  // namespace slimgraph
