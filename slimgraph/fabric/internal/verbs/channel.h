// An endpoint's side of the verbs transport: its own device context, and queue pairs that are made
// when they are first used. Nothing is done by any other thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "slimgraph/fabric/internal/poller.h"
#include "slimgraph/fabric/internal/verbs/mailbox.h"
#include "slimgraph/fabric/internal/verbs/operation_link.h"

namespace slimgraph {

class Job;

class VerbsChannel : public Channel {
 public:
  // What the channels of a node share; outlives them.
  struct Network {
    Job& job;
    NodeId self;
    std::uint32_t endpoints;
    std::uint32_t qps_per_peer;
    std::vector<VerbsContact> contacts;  // by node
    VerbsRegions regions{};
  };
  // What an endpoint has to itself; outlives its channel.
  struct Desk {
    std::size_t port;  // which of the device's
    std::unique_ptr<VerbsDevice> device;
    VerbsEvents events;
    Poller poller;
    DatagramSocket socket;
    std::unique_ptr<VerbsMailbox> mail;
  };
  static Result<Desk> MakeDesk(const Job& job, const VerbsPort& port, std::size_t index);

  // `closing` is called first of all by the destructor.
  VerbsChannel(const Network& network, std::uint32_t endpoint, Desk& desk, Faults& faults,
               std::function<void()> closing);
  ~VerbsChannel() override;

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override;
  void Wake() override { desk_.poller.Set(); }

  std::optional<std::uint64_t> posts() const override;
  bool loses_datagrams() const override { return true; }

  // From the job's control thread: a node was lost.
  void NoteLoss();

 private:
  // The queue pairs for operations on a node. Only one at a time has anything under way.
  struct Lanes {
    std::unique_ptr<VerbsRing> ring;
    std::vector<std::unique_ptr<VerbsOperationLink>> links;
    std::size_t current = 0;
  };

  VerbsOperationLink& LaneTo(NodeId node, bool continues);
  void LoseDeadNodes();
  void Progress();
  void Sleep(std::chrono::nanoseconds limit);
  void TakeReplies();
  bool AnyConnecting() const;

  const Network& network_;
  const std::uint32_t endpoint_;
  Desk& desk_;
  const std::function<void()> closing_;
  VerbsLink::Shared shared_;
  std::vector<PartResult> ended_;  // since the last Poll
  std::uint32_t polls_without_mail_ = 0;
  std::vector<Lanes> operations_;  // by node
  std::atomic<bool> loss_ = false;
};

}  // namespace slimgraph
