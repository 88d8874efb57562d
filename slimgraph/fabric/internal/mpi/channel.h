// An endpoint's side of the mpi transport: hands parts and messages to the service thread.
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
  // MPI takes whatever it is given; so that a receiver that falls behind is not buried, it says
  // what it has handled before it gets much more.
  struct Correspondence {
    std::uint64_t unhandled_bytes = 0;  // of those sent there
    std::uint64_t untold_bytes = 0;     // of those handled here
  };
  Correspondence& WithPeer(EndpointAddress peer) {
    return correspondences_[peer.node * endpoints_ + peer.endpoint];
  }
  void Receive(const MpiFrames::Arrived& arrived,
               const std::function<void(const Message&)>& receive);
  void CountHandled(EndpointAddress peer, std::uint64_t bytes);

  MpiService& service_;
  MpiMailbox& mailbox_;
  const std::uint32_t endpoint_;
  const std::uint32_t endpoints_;
  MpiMailbox::Mail mail_;
  std::vector<Correspondence> correspondences_;
};

}  // namespace slimgraph
