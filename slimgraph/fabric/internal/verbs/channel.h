// An endpoint's side of the verbs transport: its own device context, and queue pairs that are made
// at their first use. The endpoint's thread does all of the work.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "slimgraph/base/poller.h"
#include "slimgraph/fabric/internal/verbs/mail_port.h"
#include "slimgraph/fabric/internal/verbs/operation_link.h"

namespace slimgraph {

class Job;

class VerbsChannel : public Channel {
 public:
  // What the channels of a node share; must outlive them.
  struct Network {
    Job& job;
    NodeId self;
    std::uint32_t endpoints;
    std::uint32_t qps_per_peer;
    std::vector<VerbsContact> contacts;  // by node
    VerbsRegions regions{};
  };
  // What belongs to one endpoint only; outlives its channel.
  struct EndpointResources {
    std::size_t port;  // index among the device's ports
    std::unique_ptr<VerbsDevice> device;
    VerbsEvents events;
    Poller poller;
    DatagramSocket socket;
    std::unique_ptr<VerbsMailbox> mail;
  };
  static Result<EndpointResources> MakeResources(const Job& job, const VerbsPort& port,
                                                 std::size_t index);

  // The destructor calls `closing`.
  VerbsChannel(const Network& network, std::uint32_t endpoint, EndpointResources& resources,
               Faults& faults, std::function<void()> closing);
  ~VerbsChannel() override;

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override;
  void Wake() override { resources_.poller.Set(); }

  std::optional<std::uint64_t> posts() const override;
  bool loses_datagrams() const override { return true; }

  // Called on the job's control thread: a node was lost.
  void NoteLoss();

 private:
  // The queue pairs for operations on a node. Only one of them at a time has outstanding
  // operations.
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
  EndpointResources& resources_;
  const std::function<void()> closing_;
  VerbsLink::Shared shared_;
  std::vector<PartResult> ended_;  // since the last Poll
  std::uint32_t polls_without_mail_ = 0;
  std::vector<Lanes> operations_;  // by node
  std::atomic<bool> loss_ = true;  // nodes may have died before this endpoint was opened
};

}  // namespace slimgraph
