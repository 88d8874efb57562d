// How compute nodes tell each other what a step has come to: every node sends each other any number
// of messages, and an exchange is over for a node when it has all that was sent to it. The numbers
// that nodes give when they are done are combined on the way. Used by the thread of endpoint 0.
#pragma once

#include <array>
#include <cstring>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "slimgraph/cluster/cluster.h"

namespace slimgraph {

class Exchange {
 public:
  static constexpr HandlerId kHandler = 0xD6E0;
  struct Header {
    std::uint32_t number;
    std::uint32_t last;
  };
  static constexpr std::size_t kMaxBytes = kMaxMessageBytes;  // with its header
  static constexpr std::size_t kMaxValues = 8;
  using Consume = std::function<void(NodeId from, Bytes)>;

  // On every node, before any exchange.
  explicit Exchange(Cluster& cluster);

  NodeId nodes() const { return compute_; }
  NodeId self() const { return self_; }
  // The others in the order in which they are best sent to: a ring, so that not all begin with one.
  NodeId peer(NodeId i) const { return (self_ + 1 + i) % compute_; }
  NodeId peers() const { return compute_ - 1; }

  // `consume` runs for each message that arrives, in any call from here to the end of End().
  void Begin(Consume consume);
  // `body` starts with a Header, which is filled in here.
  Status Send(NodeId to, MutableBytes body);
  // values[i] becomes the combination of what all nodes gave, in order of node: the same everywhere.
  template <typename T, std::size_t N, typename Combine = std::plus<T>>
  Status End(std::span<T, N> values, Combine combine = {});
  // An exchange of nothing but such values.
  template <typename T, std::size_t N, typename Combine = std::plus<T>>
  Status Reduce(std::span<T, N> values, Combine combine = {}) {
    if (compute_ == 1) return {};
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

  void Receive(NodeId from, Bytes body);
  void Take(NodeId from, Bytes body);
  Status AwaitLast(Bytes mine);
  template <typename Done>
  Status Await(Done done);

  Cluster& cluster_;
  Endpoint& endpoint_;
  NodeId self_;
  NodeId compute_;
  std::uint32_t number_ = 0;
  bool open_ = false;
  NodeId last_seen_ = 0;
  Consume consume_;
  std::vector<ValueBytes> theirs_;  // by node
  std::vector<Early> early_;      // of exchanges that have not begun here
  std::uint64_t waited_ns_ = 0;
};

template <typename T, std::size_t N, typename Combine>
Status Exchange::End(std::span<T, N> values, Combine combine) {
  static_assert(sizeof(T) == 8);
  SLIM_TRY(AwaitLast(std::as_bytes(values)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (NodeId node = 0; node < compute_; ++node) {
      T one;
      std::memcpy(&one, theirs_[node].data() + i * sizeof(T), sizeof one);
      values[i] = node == 0 ? one : combine(values[i], one);
    }
  }
  return {};
}

}  // namespace slimgraph
