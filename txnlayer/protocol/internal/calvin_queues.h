// The lock requests for a thread's tuples. Each tuple has a FIFO queue of requests, and each
// transaction a list of its requests. All requests lie in one pool. A hash table finds a queue by
// its first request.
#pragma once

#include <cstdint>
#include <vector>

#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {

class CalvinQueues {
 public:
  // A tuple of this node.
  struct TupleLocation {
    Table* table = nullptr;
    Rank rank = 0;
    std::uint64_t offset = 0;
    MutableTupleView tuple() const { return {*table, table->memory(rank) + offset}; }
    bool operator==(const TupleLocation&) const = default;
  };
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};
  struct Request {
    TupleLocation location;
    std::size_t sequencer = 0;  // the sequencer of the transaction
    std::uint32_t coroutine = 0;
    std::uint64_t number = 0;
    std::uint32_t item = 0;  // the tuple's index in the transaction's accesses
    bool write = false;
    bool one_sided = false;  // how the tuple's value is forwarded
    bool granted = false;
    Id sibling = kNone;  // another request of the same transaction
  };

  CalvinQueues() { Clear(); }
  void Clear();

  Request& at(Id id) { return nodes_[id].request; }
  // Appends a request to its tuple's queue. Invalidates references to other requests.
  Id Add(const Request& request);
  // The first request of the queue, and the request behind `id`.
  Id FirstOf(const TupleLocation& location) const;
  Id Behind(Id id) const { return nodes_[id].next; }
  // Removes a request. Returns the first request that remains in its queue.
  Id Remove(Id id);

  bool empty() const { return queued_ == 0; }
  template <typename Visit>
  void ForEach(Visit visit) {
    for (const Id bucket : buckets_) {
      for (Id head = bucket; head != kNone; head = nodes_[head].chained) {
        for (Id id = head; id != kNone; id = nodes_[id].next) visit(nodes_[id].request);
      }
    }
  }

 private:
  static constexpr std::size_t kFirstBuckets = 256;
  struct Node {
    Request request;
    Id before = kNone;
    Id next = kNone;     // in the queue; of a free node, the next free one
    Id last = kNone;     // of a queue's first request: the last one
    Id chained = kNone;  // of a queue's first request: the first of the next queue in the bucket
  };

  Id& BucketOf(const TupleLocation& location);
  Id BucketOf(const TupleLocation& location) const {
    return const_cast<CalvinQueues*>(this)->BucketOf(location);
  }
  Id& LinkTo(Id head);
  void Grow();

  std::vector<Node> nodes_;
  std::vector<Id> buckets_;  // a power of two
  Id free_ = kNone;
  std::size_t queued_ = 0;
};

}  // namespace slimgraph::txn
