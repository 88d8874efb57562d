// The exchange of messages between nodes after a step. In an exchange, every sender sends any
// number of messages to every receiver. It ends for a node when all messages to it have arrived.
// Usually all compute nodes are both; in a step that memory nodes reduce, these receive, and then
// send. The last messages carry values that are reduced over all nodes, or data. Only the thread of
// endpoint 0 uses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph::dgemini {

class Exchange {
 public:
  static constexpr HandlerId kHandler = 0xD6E0;
  static constexpr HandlerId kReductionHandler = 0xD6E1;
  // The nodes first .. end - 1.
  struct Nodes {
    NodeId first;
    NodeId end;
    bool Has(NodeId node) const { return node >= first && node < end; }
    NodeId count() const { return end - first; }
  };
  struct Header {
    std::uint32_t number;
    std::uint32_t place;
  };
  static constexpr std::size_t kMaxBytes = kMaxMessageBytes;  // with its header
  static constexpr std::size_t kMaxValues = 8;
  // Up to so many nodes, a message to each is faster than rounds.
  static constexpr NodeId kManyNodes = 16;
  using Consume = std::function<void(NodeId from, Bytes)>;

  // Of the compute nodes, or of the first `nodes` nodes by messages to `handler`. Create it on
  // every node, before the first exchange.
  explicit Exchange(Cluster& cluster) : Exchange(cluster, kHandler, cluster.topology().compute()) {}
  Exchange(Cluster& cluster, HandlerId handler, NodeId nodes);

  NodeId nodes() const { return nodes_; }
  NodeId self() const { return self_; }
  // The other nodes in the order of a ring. Nodes send in this order, so that they do not all send
  // to the same node first.
  NodeId peer(NodeId i) const { return (self_ + 1 + i) % nodes_; }
  NodeId peers() const { return nodes_ - 1; }

  // Begins an exchange. `consume` runs for each message that arrives, within any call from here to
  // the end of End().
  void Begin(Consume consume) { BeginBetween({0, nodes_}, {0, nodes_}, std::move(consume)); }
  // The same from some nodes to some nodes. All nodes of the exchange call it. It must end without
  // values.
  void BeginBetween(Nodes senders, Nodes receivers, Consume consume);
  // Whether this node sends to that one.
  bool SendsTo(NodeId node) const {
    return senders_.Has(self_) && receivers_.Has(node) && node != self_;
  }
  // `body` must begin with room for a Header, which Send fills in.
  Status Send(NodeId to, MutableBytes body);
  // The same for the last message to that node, if the exchange ends without values.
  Status SendLast(NodeId to, MutableBytes body);
  // Ends the exchange without values.
  Status End();
  // Ends the exchange. values[i] becomes the combination of the values[i] of all nodes, in order of
  // node, so the result is the same on all nodes.
  template <typename T, std::size_t N, typename Combine = std::plus<T>>
  Status End(std::span<T, N> values, Combine combine = {});
  // An exchange of such values only, without messages. In a job of many nodes it takes rounds of a
  // few messages instead of a message to each node.
  template <typename T, std::size_t N, typename Combine = std::plus<T>>
  Status Reduce(std::span<T, N> values, Combine combine = {}) {
    if (nodes_ == 1) return {};
    if (nodes_ > kManyNodes) return ReduceInRounds(values, combine);
    Begin({});
    return End(values, combine);
  }

  std::uint64_t waited_ns() const { return waited_ns_; }

 private:
  struct Early {
    NodeId from;
    std::vector<std::byte> body;
  };
  using ValueBytes = std::array<std::byte, kMaxValues * 8>;

  // What a message is among those of its sender in an exchange.
  enum Place : std::uint32_t { kNotLast, kLastWithValues, kLastWithData };

  Status SendAs(Place place, NodeId to, MutableBytes body);
  void Post(NodeId to, Bytes message);
  void Receive(NodeId from, Bytes body);
  void Take(NodeId from, Bytes body);
  Status EndWithValues(Bytes mine);
  Status AwaitLast();
  template <typename Done>
  Status Await(Done done);
  template <typename T, std::size_t N, typename Combine>
  Status ReduceInRounds(std::span<T, N> values, Combine combine) {
    const std::uint64_t start_ns = NowNs();
    const Status done = cluster_.compute().AllReduce(std::span<T>(values), combine);
    waited_ns_ += NowNs() - start_ns;
    return done;
  }
  std::string DescribeWait() const;

  Cluster& cluster_;
  Endpoint& endpoint_;
  NodeId self_;
  HandlerId handler_id_;
  StageId stage_;  // of the messages; kUnnamedStage: what the endpoint's is
  NodeId nodes_;
  Nodes senders_{};
  Nodes receivers_{};
  NodeId awaited_ = 0;  // how many nodes send to this one
  std::uint32_t number_ = 0;
  bool open_ = false;
  NodeId last_seen_ = 0;
  std::vector<std::uint32_t> last_of_;  // by node: the latest exchange whose last message arrived
  std::vector<std::uint32_t> last_to_;  // the same for messages to nodes, if they are with data
  Consume consume_;
  std::vector<ValueBytes> theirs_;  // by node
  std::vector<Early> early_;        // messages of exchanges that have not begun on this node
  std::uint64_t waited_ns_ = 0;
  HandlerRegistration handler_;
};

template <typename T, std::size_t N, typename Combine>
Status Exchange::End(std::span<T, N> values, Combine combine) {
  static_assert(sizeof(T) == 8);
  SLIM_TRY(EndWithValues(std::as_bytes(values)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (NodeId node = 0; node < nodes_; ++node) {
      T one;
      std::memcpy(&one, theirs_[node].data() + i * sizeof(T), sizeof one);
      values[i] = node == 0 ? one : combine(values[i], one);
    }
  }
  return {};
}

}  // namespace slimgraph::dgemini
