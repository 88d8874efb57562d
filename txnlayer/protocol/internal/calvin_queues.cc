#include "txnlayer/protocol/internal/calvin_queues.h"

#include <utility>

#include "txnlayer/internal/store/hash.h"

namespace slimgraph::txn {

void CalvinQueues::Clear() {
  nodes_.clear();
  buckets_.assign(kFirstBuckets, kNone);
  free_ = kNone;
  queued_ = 0;
}

CalvinQueues::Id& CalvinQueues::BucketOf(const TupleLocation& location) {
  const std::uint64_t name =
      location.offset + (std::uint64_t{location.table->id()} << 48) + location.rank;
  return buckets_[Mix(name) & (buckets_.size() - 1)];
}

CalvinQueues::Id CalvinQueues::FirstOf(const TupleLocation& location) const {
  Id head = BucketOf(location);
  while (head != kNone && !(nodes_[head].request.location == location)) head = nodes_[head].chained;
  return head;
}

// The link to the queue `head` in the chain of its bucket.
CalvinQueues::Id& CalvinQueues::LinkTo(Id head) {
  Id* link = &BucketOf(nodes_[head].request.location);
  while (*link != head) link = &nodes_[*link].chained;
  return *link;
}

CalvinQueues::Id CalvinQueues::Add(const Request& request) {
  if (queued_ == buckets_.size()) Grow();
  if (free_ == kNone) {
    free_ = static_cast<Id>(nodes_.size());
    nodes_.emplace_back();
  }
  const Id id = free_;
  Node& node = nodes_[id];
  free_ = std::exchange(node.next, kNone);
  node.request = request;
  node.before = kNone;
  ++queued_;
  const Id head = FirstOf(request.location);
  if (head == kNone) {
    node.last = id;
    node.chained = std::exchange(BucketOf(request.location), id);
    return id;
  }
  node.before = std::exchange(nodes_[head].last, id);
  nodes_[node.before].next = id;
  return id;
}

CalvinQueues::Id CalvinQueues::Remove(Id id) {
  Node& node = nodes_[id];
  Id head = id;
  if (node.before == kNone) {
    Id& link = LinkTo(id);
    if (node.next == kNone) {
      link = node.chained;
      head = kNone;
    } else {
      link = head = node.next;
      Node& first = nodes_[head];
      first.before = kNone;
      first.last = node.last;
      first.chained = node.chained;
    }
  } else {
    nodes_[node.before].next = node.next;
    head = FirstOf(node.request.location);
    if (node.next == kNone) {
      nodes_[head].last = node.before;
    } else {
      nodes_[node.next].before = node.before;
    }
  }
  node.next = std::exchange(free_, id);
  --queued_;
  return head;
}

// Doubles the number of buckets and rehashes the queues.
void CalvinQueues::Grow() {
  std::vector<Id> old(2 * buckets_.size(), kNone);
  old.swap(buckets_);
  for (Id head : old) {
    while (head != kNone) {
      Id& bucket = BucketOf(nodes_[head].request.location);
      const Id next = std::exchange(nodes_[head].chained, bucket);
      bucket = head;
      head = next;
    }
  }
}

}  // namespace slimgraph::txn
