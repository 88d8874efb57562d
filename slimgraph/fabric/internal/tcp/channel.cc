#include "slimgraph/fabric/internal/tcp/channel.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {
namespace {

// How long the death of a node that cannot be reached may take to be noticed.
constexpr std::uint64_t kUnreachableNs = 3'000'000'000;
constexpr std::chrono::milliseconds kUnreachableCheck{100};

}  // namespace

TcpChannel::TcpChannel(const Network& network, std::uint32_t endpoint, Poller& poller,
                       std::function<void()> closing)
    : network_(network),
      endpoint_(endpoint),
      closing_(std::move(closing)),
      poller_(poller),
      operations_(network.contacts.size()),
      outgoing_(network.contacts.size() * network.endpoints) {}

TcpChannel::~TcpChannel() { closing_(); }

void TcpChannel::Post(std::uint64_t id, std::span<const Operation> operations, bool continues) {
  const NodeId node = operations.front().node;
  std::unique_ptr<TcpOperationLink>& link = operations_[node];
  if (!link) {
    link = std::make_unique<TcpOperationLink>(poller_, Connect(node), ended_);
  }
  link->Post(id, operations, continues);
}

bool TcpChannel::Send(EndpointAddress to, const Message& message) {
  std::unique_ptr<TcpOutgoingMessages>& link =
      outgoing_[to.node * network_.endpoints + to.endpoint];
  if (!link) {
    const auto endpoint = static_cast<std::uint16_t>(to.endpoint);
    link = std::make_unique<TcpOutgoingMessages>(poller_, Connect(to.node, endpoint), to.node,
                                                 unreachable_);
  }
  return link->Send(message);
}

void TcpChannel::Poll(std::vector<PartResult>& ended,
                      const std::function<void(const Message&)>& receive) {
  if (loss_.load(std::memory_order_relaxed) && loss_.exchange(false)) LoseDeadNodes();
  if (arrived_.load(std::memory_order_relaxed) && arrived_.exchange(false)) TakeArrivals();
  receiver_ = &receive;
  for (const epoll_event& event : poller_.Ready()) {
    static_cast<TcpLink*>(event.data.ptr)->OnReady();
  }
  receiver_ = nullptr;
  DropLostIncoming();
  if (unreachable_.node) FailIfUnreachable();
  ended.insert(ended.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

void TcpChannel::Park(std::chrono::nanoseconds limit) {
  if (unreachable_.node) limit = std::min(limit, std::chrono::nanoseconds(kUnreachableCheck));
  if (ended_.empty() && !loss_ && !arrived_) poller_.Wait(limit);
}

// If no connection can be opened, the link is lost from the beginning, and its operations fail.
TcpOpened TcpChannel::Connect(NodeId node, std::uint16_t to_endpoint) const {
  const auto wanted = [&] { return network_.job.alive(node); };
  if (!wanted()) return {};
  const TcpClaims claims{.node = network_.self,
                         .endpoint = static_cast<std::uint16_t>(endpoint_),
                         .to_endpoint = to_endpoint};
  return OpenTcpConnection(network_.contacts[node], network_.key, claims, network_.encrypts, wanted)
      .value_or(TcpOpened());
}

void TcpChannel::Adopt(UniqueFd fd, EndpointAddress from,
                       const std::optional<TcpStreamKeys>& keys) {
  {
    std::lock_guard lock(mutex_);
    arrivals_.push_back({std::move(fd), from, keys});
  }
  arrived_ = true;
  Wake();
}

void TcpChannel::TakeArrivals() {
  std::lock_guard lock(mutex_);
  for (Arrival& arrival : arrivals_) {
    incoming_.push_back(std::make_unique<TcpIncomingMessages>(
        poller_, std::move(arrival.fd), arrival.from, arrival.keys, receiver_, unreachable_));
  }
  arrivals_.clear();
}

void TcpChannel::NoteLoss() {
  loss_ = true;
  Wake();
}

void TcpChannel::LoseDeadNodes() {
  for (NodeId node = 0; node < operations_.size(); ++node) {
    if (network_.job.alive(node)) continue;
    if (operations_[node]) operations_[node]->Lose();
    for (std::uint32_t endpoint = 0; endpoint < network_.endpoints; ++endpoint) {
      const auto& messages = outgoing_[node * network_.endpoints + endpoint];
      if (messages) messages->Lose();
    }
  }
}

void TcpChannel::DropLostIncoming() {
  std::erase_if(incoming_, [](const auto& link) { return link->lost(); });
}

// Whoever waits for a lost message would wait forever, so the job ends. If the node has died, the
// job learns it soon, and decides by itself.
void TcpChannel::FailIfUnreachable() {
  const NodeId node = *unreachable_.node;
  if (!network_.job.alive(node)) return unreachable_.node.reset();
  if (NowNs() - unreachable_.since_ns < kUnreachableNs) return;
  network_.job.Fail({ErrorKind::kEnvironment,
                     fmt::format("node {} lives, but cannot be reached over tcp: check the network "
                                 "between their hosts",
                                 node)});
  unreachable_.node.reset();
}

}  // namespace slimgraph
