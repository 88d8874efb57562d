// An endpoint's side of the tcp transport. Its own thread sends requests and receives replies and
// messages, without a hand-off to another thread. Connections are made at their first use.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/tcp/message_link.h"
#include "slimgraph/fabric/internal/tcp/operation_link.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class TcpChannel : public Channel {
 public:
  // What the channels of a node share; must outlive them.
  struct Network {
    Job& job;
    NodeId self;
    std::uint32_t endpoints;
    HandshakeKey key;
    bool encrypts;
    std::vector<TcpContact> contacts;  // by node
  };

  // The destructor calls `closing` first; Adopt() must not be called after that.
  TcpChannel(const Network& network, std::uint32_t endpoint, Poller& poller,
             std::function<void()> closing);
  ~TcpChannel() override;

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override;
  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override;
  bool Send(EndpointAddress to, const Message& message) override;
  void Park(std::chrono::nanoseconds limit) override;
  void Wake() override { poller_.Set(); }

  // Called on the service thread: passes a connection on which `from` sends messages to this
  // endpoint.
  void Adopt(UniqueFd fd, EndpointAddress from, const std::optional<TcpStreamKeys>& keys);
  // Called on the job's control thread: a node was lost.
  void NoteLoss();

 private:
  struct Arrival {
    UniqueFd fd;
    EndpointAddress from;
    std::optional<TcpStreamKeys> keys;
  };

  TcpOpened Connect(NodeId node, std::uint16_t to_endpoint = TcpClaims::kOperations) const;
  void TakeArrivals();
  void LoseDeadNodes();
  void DropLostIncoming();
  void FailIfUnreachable();

  const Network& network_;
  const std::uint32_t endpoint_;
  std::function<void()> closing_;
  Poller& poller_;
  std::vector<PartResult> ended_;  // since the last Poll
  const std::function<void(const Message&)>* receiver_ = nullptr;

  UnreachableNode unreachable_;
  std::vector<std::unique_ptr<TcpOperationLink>> operations_;   // by node
  std::vector<std::unique_ptr<TcpOutgoingMessages>> outgoing_;  // by node and its endpoint
  std::vector<std::unique_ptr<TcpIncomingMessages>> incoming_;

  std::atomic<bool> loss_ = false;
  std::atomic<bool> arrived_ = false;
  Mutex mutex_;
  std::vector<Arrival> arrivals_;  // guarded by mutex_
};

}  // namespace slimgraph
