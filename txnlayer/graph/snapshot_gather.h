// What a node finds in its tables of the graph at a time, while transactions change them, and how
// that goes with the base. README.md has the argument.
#pragma once

#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// What the last entry of a neighbour says.
class EdgeChange {
 public:
  EdgeChange() = default;
  EdgeChange(VertexName vertex, VertexName neighbour, bool alive)
      : vertex_(vertex), word_(neighbour << 1 | (alive ? 1 : 0)) {}
  VertexName vertex() const { return vertex_; }
  VertexName neighbour() const { return word_ >> 1; }
  bool alive() const { return (word_ & 1) != 0; }
  auto operator<=>(const EdgeChange&) const = default;

 private:
  VertexName vertex_ = 0;
  std::uint64_t word_ = 0;
};

// Of the tuples that this node holds: edges of which the blocks tell, in order; vertices that are
// there and not in the base, and the other way round.
struct Changes {
  std::vector<EdgeChange> edges;
  std::vector<VertexName> added;
  std::vector<VertexName> deleted;
};
Changes FindChanges(TransactionalGraph& graph, GraphTime at);

// The vertices of a graph at a time, by their names' order.
class SnapshotVertices {
 public:
  // Collective.
  static Result<SnapshotVertices> Make(Cluster& cluster, const BaseGraph& base,
                                       const Changes& changes);

  // visit(name, holder, dense id in the base or nothing) for each in turn.
  template <typename Visit>
  void ForEach(Visit visit) const {
    std::size_t added = 0;
    std::size_t deleted = 0;
    const auto add = [&] { visit(added_[added], HolderOf(added_[added]), std::nullopt), ++added; };
    for (VertexId dense = 0; dense < base_->vertices(); ++dense) {
      const VertexName name = base_->NameOf(dense);
      while (added < added_.size() && added_[added] < name) add();
      if (deleted < deleted_.size() && deleted_[deleted] == name) {
        ++deleted;
        continue;
      }
      visit(name, dense % nodes_, std::optional<VertexId>(dense));
    }
    while (added < added_.size()) add();
  }

  // The node that brings its list: where the base has it, so that this is at hand.
  NodeId HolderOf(VertexName name) const {
    const auto dense = base_->DenseOf(name);
    return dense ? *dense % nodes_ : static_cast<NodeId>(name % nodes_);
  }
  OriginalIds Ids() const;

 private:
  const BaseGraph* base_ = nullptr;
  NodeId nodes_ = 1;
  std::vector<VertexName> added_;    // all nodes', in order
  std::vector<VertexName> deleted_;  //
};

// Collective: sends every node the changes of the vertices whose lists it brings.
Result<std::vector<EdgeChange>> DealOut(Cluster& cluster, const SnapshotVertices& vertices,
                                        std::vector<EdgeChange> changes);

}  // namespace slimgraph::txn
