// Which node holds which partition: partition p lies on node p, and its copies on the next nodes.
// After deaths, the first living holder is the partition's primary, where transactions find its
// tuples. The others are its backups. All nodes compute this from the same deaths, so they agree
// without messages.
#pragma once

#include <vector>

#include "slimgraph/base/types.h"
#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

class View {
 public:
  View(NodeId nodes, std::uint32_t replicas) : replicas_(replicas), alive_(nodes, true) {
    Choose();
  }

  NodeId nodes() const { return static_cast<NodeId>(alive_.size()); }
  bool alive(NodeId node) const { return alive_[node]; }
  std::uint32_t losses() const { return losses_; }
  // How many more nodes may die without a loss of data.
  std::uint32_t spare() const { return replicas_ - 1 - std::min(losses_, replicas_ - 1); }

  NodeId Primary(NodeId partition) const { return primaries_[partition]; }
  // The part of the node's tables that has the partition.
  Rank RankAt(NodeId node, NodeId partition) const {
    return node >= partition ? node - partition : node + nodes() - partition;
  }
  bool Holds(NodeId node, NodeId partition) const {
    return alive_[node] && RankAt(node, partition) < replicas_;
  }

  // Marks a node as dead. False when no holder of some partition lives any more.
  bool Lose(NodeId node) {
    losses_ += alive_[node] ? 1 : 0;
    alive_[node] = false;
    return Choose();
  }

 private:
  bool Choose() {
    primaries_.resize(nodes());
    for (NodeId partition = 0; partition < nodes(); ++partition) {
      NodeId holder = partition;
      while (!alive_[holder]) holder = holder + 1 == nodes() ? 0 : holder + 1;
      if (!Holds(holder, partition)) return false;
      primaries_[partition] = holder;
    }
    return true;
  }

  std::uint32_t replicas_;
  std::vector<bool> alive_;
  std::vector<NodeId> primaries_;  // by partition
  std::uint32_t losses_ = 0;
};

}  // namespace slimgraph::txn
