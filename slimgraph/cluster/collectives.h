// Collectives in a group of nodes: every member calls the same function in the same order, on the
// thread of its endpoint 0. Waiting members sleep, and handle messages meanwhile. When a member is
// lost, the call fails on the others.
//
// All but AllToAll use one all-gather algorithm (Bruck et al., 1997): ⌈log2 n⌉ rounds of messages.
// In each round a member passes on all blocks that it knows.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/fabric.h"

namespace slimgraph {

// Receives the messages of collectives for all groups of a process. It must exist on every node
// before any node calls a collective.
class CollectiveMailbox {
 public:
  static constexpr HandlerId kHandler = 0xFFFE;

  explicit CollectiveMailbox(Fabric& fabric);

 private:
  friend class Collectives;
  struct Key {
    std::uint32_t group;
    std::uint32_t sequence;
    std::uint32_t round;
    NodeId from;
    auto operator<=>(const Key&) const = default;
  };
  struct Mail {
    std::vector<std::byte> bytes;
    bool complete = false;
  };
  std::map<Key, Mail> mails_;
  HandlerRegistration handler_;
};

class Collectives {
 public:
  // `members` is in ascending order and contains this node. `group` is unique to this group.
  Collectives(Job& job, Fabric& fabric, CollectiveMailbox& mailbox, std::uint32_t group,
              std::vector<NodeId> members);

  std::size_t size() const { return members_.size(); }
  std::size_t rank() const { return rank_; }
  // The node id of each rank.
  const std::vector<NodeId>& members() const { return members_; }

  Status Barrier();

  // Returns all members' bytes, in rank order. Sizes may differ.
  Result<std::vector<std::vector<std::byte>>> AllGather(Bytes mine);

  // Returns the bytes of the member with rank `root` to all members.
  Result<std::vector<std::byte>> Broadcast(std::size_t root, Bytes mine);

  // Sends to_each[rank] to the member of that rank, and returns what the members sent to this one,
  // in rank order. Sizes may differ.
  Result<std::vector<std::vector<std::byte>>> AllToAll(std::vector<std::vector<std::byte>> to_each);

  // Replaces values[i] by the combination of all members' values[i], in rank order. So all members
  // get the same bits, also for floating point.
  template <typename T, typename Combine>
  Status AllReduce(std::span<T> values, Combine combine);
  template <typename T>
  Result<T> AllSum(T value);
  template <typename T>
  Result<T> AllMax(T value);

 private:
  using Mail = CollectiveMailbox::Mail;
  void SendMail(std::size_t to, std::uint32_t round, const std::vector<std::byte>& bytes);
  Result<std::vector<std::byte>> AwaitMail(std::size_t from, std::uint32_t round);
  // Ends a collective: waits until all that this member has sent has left.
  void AwaitSent();

  Job& job_;
  Endpoint& endpoint_;
  CollectiveMailbox& mailbox_;
  std::uint32_t group_;
  std::vector<NodeId> members_;
  std::size_t rank_ = 0;
  std::uint32_t sequence_ = 0;
};

template <typename T, typename Combine>
Status Collectives::AllReduce(std::span<T> values, Combine combine) {
  SLIM_ASSIGN(const auto all, AllGather(std::as_bytes(values)));
  std::vector<T> theirs(values.size());
  for (std::size_t member = 0; member < all.size(); ++member) {
    if (!theirs.empty()) std::memcpy(theirs.data(), all[member].data(), all[member].size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = member == 0 ? theirs[i] : combine(values[i], theirs[i]);
    }
  }
  return {};
}

template <typename T>
Result<T> Collectives::AllSum(T value) {
  SLIM_TRY(AllReduce(std::span(&value, 1), [](T a, T b) { return a + b; }));
  return value;
}

template <typename T>
Result<T> Collectives::AllMax(T value) {
  SLIM_TRY(AllReduce(std::span(&value, 1), [](T a, T b) { return a < b ? b : a; }));
  return value;
}

}  // namespace slimgraph
