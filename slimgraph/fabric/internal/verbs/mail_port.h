// The datagrams of an endpoint's mailbox, through its queue pair for datagrams.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/datagrams/mailbox.h"
#include "slimgraph/fabric/internal/verbs/datagrams.h"

namespace slimgraph {

class VerbsMailPort final : public MailPort {
 public:
  // An arrival signals `events` if Arm() was called before.
  static Result<std::unique_ptr<VerbsMailPort>> Make(const VerbsDevice& device,
                                                     ibv_comp_channel* events);
  const VerbsMailAddress& address() const { return datagrams_->address(); }

  // Must be called first. `addresses` has the addresses of all endpoints, by node and its endpoint.
  void Start(std::uint32_t endpoints, std::span<const VerbsMailAddress> addresses);

  std::uint32_t MostBytes(EndpointAddress to) const override {
    return addresses_[IndexOf(to)].datagram_bytes;
  }
  Result<std::unique_ptr<SendRing>> MakeRing(std::uint64_t bytes) override;
  std::uint64_t Send(EndpointAddress to, Bytes bytes, const SendRing* ring) override;
  std::uint64_t sent() override { return datagrams_->sent(); }

  bool all_sent() { return datagrams_->sent() == datagrams_->posted(); }
  void Receive(const VerbsDatagrams::Take& take) { datagrams_->Receive(take); }
  bool IsFrom(std::uint32_t queue_pair, EndpointAddress endpoint) const {
    return addresses_[IndexOf(endpoint)].queue_pair == queue_pair;
  }
  bool Arm() { return datagrams_->Arm(); }

 private:
  VerbsMailPort(const VerbsDevice& device, std::unique_ptr<VerbsDatagrams> datagrams)
      : device_(device), datagrams_(std::move(datagrams)) {}
  std::size_t IndexOf(EndpointAddress peer) const {
    return std::size_t{peer.node} * endpoints_ + peer.endpoint;
  }

  const VerbsDevice& device_;
  const std::unique_ptr<VerbsDatagrams> datagrams_;
  std::uint32_t endpoints_ = 0;
  std::span<const VerbsMailAddress> addresses_;
  std::vector<VerbsRoute> routes_;  // by node and its endpoint
};

using VerbsMailbox = Mailbox<VerbsMailPort>;

}  // namespace slimgraph
