// The lock requests for a thread's tuples: for each tuple a queue in the order in which they have
// come, and for each transaction a list of its requests. All lie in one pool, and a queue is found
// by its first request, through a hash table.
#pragma once

#include <cstdint>
#include <vector>

#include "txnlayer/store/table.h"

namespace slimgraph::txn {

class CalvinQueues {
 public:
  // A tuple of this node.
  struct Place {
    Table* table = nullptr;
    Rank rank = 0;
    std::uint64_t offset = 0;
    std::byte* tuple() const { return table->memory(rank) + offset; }
    bool operator==(const Place&) const = default;
  };
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};
  struct Request {
    Place place;
    std::size_t sequencer = 0;  // whose transaction it is of,
    std::uint32_t coroutine = 0;
    std::uint64_t number = 0;
    std::uint32_t item = 0;  // and the place among its accesses
    bool write = false;
    bool one_sided = false;  // so goes its value
    bool granted = false;
    Id sibling = kNone;  // another of the same transaction
  };

  CalvinQueues() { Clear(); }
  void Clear();

  Request& at(Id id) { return nodes_[id].request; }
  // At the end of its place's queue. References to others are good no longer.
  Id Add(const Request& request);
  // The first of the queue that it is in, and the one behind it.
  Id FirstOf(const Place& place) const;
  Id Next(Id id) const { return nodes_[id].next; }
  // The first of what is left of its queue.
  Id Remove(Id id);

  bool empty() const { return queued_ == 0; }
  template <typename Look>
  void ForEach(Look look) {
    for (const Id bucket : buckets_) {
      for (Id head = bucket; head != kNone; head = nodes_[head].chained) {
        for (Id id = head; id != kNone; id = nodes_[id].next) look(nodes_[id].request);
      }
    }
  }

 private:
  static constexpr std::size_t kFirstBuckets = 256;
  struct Node {
    Request request;
    Id before = kNone;
    Id next = kNone;     // in the queue; of a free node, the next free one
    Id last = kNone;     // of a queue's first: the last one
    Id chained = kNone;  // of a queue's first: that of the next queue in the bucket
  };

  Id& BucketOf(const Place& place);
  Id BucketOf(const Place& place) const { return const_cast<CalvinQueues*>(this)->BucketOf(place); }
  Id& LinkTo(Id head);
  void Grow();

  std::vector<Node> nodes_;
  std::vector<Id> buckets_;  // a power of two
  Id free_ = kNone;
  std::size_t queued_ = 0;
};

}  // namespace slimgraph::txn
