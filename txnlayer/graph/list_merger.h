// Brings a node's lists together for a snapshot: what the base has, and what changes have made of
// it.
#pragma once

#include <span>
#include <vector>

#include "txnlayer/graph/snapshot_gather.h"

namespace slimgraph::txn {

class ListMerger {
 public:
  // The lists that `self` holds, with the changes of these.
  ListMerger(TransactionalGraph& graph, const PartitionHolders& holders, NodeId self,
             const SnapshotVertices& vertices, const EdgeChanges& changes);

  // What is called so: vertices, or of a directed graph sides.
  const OriginalIds& ids() const { return ids_; }
  std::uint64_t most_arcs() const { return most_arcs_ + changes_.size(); }
  // Of the outgoing lists.
  std::uint64_t loops() const { return loops_; }

  // Where lists are written, and beside them the weights, if there are any.
  struct Target {
    VertexId* list;
    std::byte* weights;
  };
  // Those of one direction, in the order of their vertices. Leaves `into` behind what was written.
  // Brings the holders of all lists of the direction, and the lengths of this node's.
  void Merge(Direction direction, Target& into, std::vector<std::uint8_t>& holders,
             std::vector<std::uint32_t>& lengths);

 private:
  void FindNewIds();
  void Copy(NodeId partition, const VertexId* from, const VertexId* to, Target& into) const;
  void CopyWeights(NodeId partition, const VertexId* from, const VertexId* to, Target& into) const;
  void MergeList(const BaseGraph::Vertex& vertex, std::span<const EdgeChange> changes,
                 Target& into) const;

  const BaseGraph& base_;
  const GraphShape& shape_;
  const NodeId self_;
  const SnapshotVertices& vertices_;
  const std::span<const EdgeChange> changes_;
  const Bytes properties_;  // of the changes
  const OriginalIds ids_;
  std::vector<std::span<const VertexId>> lists_;  // of the base, by partition
  std::vector<Bytes> marks_;                      //
  std::vector<Bytes> records_;                    //
  // The ids of the snapshot's vertices, by those of the base; none where they are the same.
  std::vector<VertexId> new_ids_;
  bool plain_ = false;  // what the base has is as in the snapshot
  std::uint64_t most_arcs_ = 1;
  bool may_have_loops_ = false;
  std::uint64_t loops_ = 0;
};

}  // namespace slimgraph::txn
