// Builds this node's lists for a snapshot from the base and the changes since.
#pragma once

#include <span>
#include <vector>

#include "txnlayer/graph/internal/snapshot_gather.h"

namespace slimgraph::txn {

class ListMerger {
 public:
  // Of the lists that `self` holds, and their changes.
  ListMerger(TransactionalGraph& graph, const PartitionHolders& holders, NodeId self,
             const SnapshotVertices& vertices, const EdgeChanges& changes);

  // The names of the snapshot's vertices, or sides if the graph is directed.
  const OriginalIds& ids() const { return ids_; }
  std::uint64_t most_arcs() const { return most_arcs_ + changes_.size(); }
  // Among the outgoing lists.
  std::uint64_t loops() const { return loops_; }

  // Where the next list is written, and its weights if the graph has any.
  struct Target {
    VertexId* list;
    std::byte* weights;
  };
  // Merges the lists of one direction, in the order of their vertices, and advances `into` past
  // them. Appends the holders of all lists of that direction, and the lengths of this node's lists.
  void Merge(Direction direction, Target& into, std::vector<std::uint16_t>& holders,
             std::vector<std::uint32_t>& lengths);

 private:
  void FindNewIds();
  void Copy(NodeId partition, std::span<const VertexId> part, Target& into) const;
  void CopyWeights(NodeId partition, std::span<const VertexId> part, Target& into) const;
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
  std::vector<Bytes> marks_;                      // by partition
  std::vector<Bytes> records_;                    // by partition
  // By dense id in the base: the vertex's id in the snapshot. Empty: the ids are the same.
  std::vector<VertexId> new_ids_;
  bool plain_ = false;  // lists of the base can be copied unchanged
  std::uint64_t most_arcs_ = 1;
  bool may_have_loops_ = false;
  std::uint64_t loops_ = 0;
};

}  // namespace slimgraph::txn
