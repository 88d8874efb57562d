// What a node finds in its tables of the graph at a time, while transactions change them, and how
// that goes with the base. README.md has the argument.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// What the last entry of a neighbour says.
class EdgeChange {
 public:
  EdgeChange() = default;
  EdgeChange(VertexName vertex, VertexName neighbour, bool alive, GraphTime time)
      : vertex_(vertex), word_(neighbour << 1 | (alive ? 1 : 0)), time_(time) {}
  VertexName vertex() const { return vertex_; }
  VertexName neighbour() const { return word_ >> 1; }
  bool alive() const { return (word_ & 1) != 0; }
  GraphTime time() const { return time_; }
  auto operator<=>(const EdgeChange&) const = default;

  // Where its properties are among those of all.
  std::uint64_t place = 0;

 private:
  VertexName vertex_ = 0;
  std::uint64_t word_ = 0;
  GraphTime time_ = 0;
};

// Edges of which blocks tell, in order, and their properties, of so many bytes each.
struct EdgeChanges {
  std::vector<EdgeChange> edges;
  std::vector<std::byte> properties;
};

// Of the tuples that this node holds; vertices that are there and not in the base, and the other
// way round.
struct Changes {
  EdgeChanges edges;
  std::vector<VertexName> added;
  std::vector<VertexName> deleted;
};
// Edges are left out that `wanted` does not want, and properties unless they are asked for.
Changes FindChanges(TransactionalGraph& graph, GraphTime at, bool properties,
                    const std::function<bool(VertexName, VertexName)>& wanted);

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

// Collective: sends every node the changes of which it is the holder; those come back in order.
// `each`: the bytes of properties. `room` is collective as well: memory that others can read.
Result<EdgeChanges> DealOut(Cluster& cluster, const EdgeChanges& changes, std::uint64_t each,
                            const std::function<NodeId(VertexName)>& holder,
                            const std::function<Result<SharedRegion>(std::uint64_t)>& room);

}  // namespace slimgraph::txn
