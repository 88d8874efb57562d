#include "txnlayer/protocol/calvin_queues.h"

#include <utility>

#include "txnlayer/store/hash.h"

namespace slimgraph::txn {

void CalvinQueues::Clear() {
  nodes_.clear();
  buckets_.assign(kFirstBuckets, kNone);
  free_ = kNone;
  queued_ = 0;
}

CalvinQueues::Id& CalvinQueues::BucketOf(const Place& place) {
  const std::uint64_t name = place.offset + (std::uint64_t{place.table->id()} << 48) + place.rank;
  return buckets_[Mix(name) & (buckets_.size() - 1)];
}

CalvinQueues::Id CalvinQueues::FirstOf(const Place& place) const {
  Id head = BucketOf(place);
  while (head != kNone && !(nodes_[head].request.place == place)) head = nodes_[head].chained;
  return head;
}

// Where the chain of its bucket names it.
CalvinQueues::Id& CalvinQueues::LinkTo(Id head) {
  Id* link = &BucketOf(nodes_[head].request.place);
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
  const Id head = FirstOf(request.place);
  if (head == kNone) {
    node.last = id;
    node.chained = std::exchange(BucketOf(request.place), id);
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
    head = FirstOf(node.request.place);
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

// Twice as many buckets, among which the queues are dealt out anew.
void CalvinQueues::Grow() {
  std::vector<Id> old(2 * buckets_.size(), kNone);
  old.swap(buckets_);
  for (Id head : old) {
    while (head != kNone) {
      Id& bucket = BucketOf(nodes_[head].request.place);
      const Id next = std::exchange(nodes_[head].chained, bucket);
      bucket = head;
      head = next;
    }
  }
}

}  // namespace slimgraph::txn
