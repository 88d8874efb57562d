// An endpoint's side of the tcp transport. Its own thread sends requests and receives replies and
// messages, with no hand-off to another thread; connections are made when they are first used.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "slimgraph/fabric/internal/tcp/message_link.h"
#include "slimgraph/fabric/internal/tcp/operation_link.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class TcpChannel : public Channel {
 public:
  // What the channels of a node share; outlives them.
  struct Network {
    Job& job;
    NodeId self;
    std::uint32_t endpoints;
    std::vector<TcpContact> contacts;  // by node
  };

  // `closing` is called first of all by the destructor: from then on nothing is adopted.
  TcpChannel(const Network& network, std::uint32_t endpoint, Poller& poller,
             std::function<void()> closing);
  ~TcpChannel() override;

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override;
  void Wake() override { poller_.Set(); }

  // From the service thread: a connection on which `from` sends messages to this endpoint.
  void Adopt(UniqueFd fd, EndpointAddress from);
  // From the job's control thread: a node was lost.
  void NoteLoss();

 private:
  struct Arrival {
    UniqueFd fd;
    EndpointAddress from;
  };

  UniqueFd Connect(NodeId node);
  TcpHello HelloTo(NodeId node) const;
  void TakeArrivals();
  void LoseDeadNodes();
  void DropLostIncoming();

  const Network& network_;
  const std::uint32_t endpoint_;
  std::function<void()> closing_;
  Poller& poller_;
  std::vector<PartResult> ended_;  // since the last Poll
  const std::function<void(const Message&)>* receiver_ = nullptr;

  std::vector<std::unique_ptr<TcpOperationLink>> operations_;   // by node
  std::vector<std::unique_ptr<TcpOutgoingMessages>> outgoing_;  // by node and its endpoint
  std::vector<std::unique_ptr<TcpIncomingMessages>> incoming_;

  std::atomic<bool> loss_ = false;
  std::atomic<bool> arrived_ = false;
  std::mutex mutex_;
  std::vector<Arrival> arrivals_;  // under mutex_
};

}  // namespace slimgraph
