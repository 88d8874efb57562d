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

// By vertex and neighbour.
inline bool Before(const EdgeChange& one, const EdgeChange& other) {
  return one.vertex() != other.vertex() ? one.vertex() < other.vertex()
                                        : one.neighbour() < other.neighbour();
}

// Edges of which blocks tell, in order, and their properties, of so many bytes each.
struct EdgeChanges {
  std::vector<EdgeChange> edges;
  std::vector<std::byte> properties;
};

// Vertices that are there and not in the base, and the other way round, in order.
struct VertexChanges {
  std::vector<VertexName> added;
  std::vector<VertexName> deleted;
};

// Who looks through which partitions: where transactions find them, at a moment without any.
struct PartitionHolders {
  PartitionHolders() = default;
  PartitionHolders(Cluster& cluster, const View& view);
  // By partition, as `cluster` calls its nodes.
  std::vector<NodeId> holder;
  // Of this node, and in which part of its memory they are.
  struct Held {
    NodeId partition;
    Rank rank;
  };
  std::vector<Held> mine;
  // The same of those that it has a copy of, these included; and by partition who has one.
  std::vector<Held> held;
  std::vector<std::vector<NodeId>> all;
};

// Of the tuples that this node holds, at that time. Edges are left out that `wanted` does not want,
// and properties unless they are asked for.
EdgeChanges FindEdges(TransactionalGraph& graph, const PartitionHolders& holders, GraphTime at,
                      bool properties, const std::function<bool(VertexName, VertexName)>& wanted);
// Collective: of all nodes.
Result<VertexChanges> FindVertices(Cluster& cluster, TransactionalGraph& graph,
                                   const PartitionHolders& holders, GraphTime at);

// The vertices of a graph at a time, by their names' order.
class SnapshotVertices {
 public:
  SnapshotVertices(const PartitionHolders& holders, const BaseGraph& base, VertexChanges changes)
      : base_(base),
        holders_(holders.holder),
        nodes_(static_cast<NodeId>(holders_.size())),
        changes_(std::move(changes)) {}

  // Whether they are those of the base, none more and none less.
  bool same() const {
    return changes_.added.empty() && changes_.deleted.empty() &&
           base_.alive_vertices() == base_.vertices();
  }
  // visit(name, holder, dense id in the base or nothing) for each in turn.
  template <typename Visit>
  void ForEach(Visit visit) const {
    const auto& [added, deleted] = changes_;
    std::size_t next = 0;
    std::size_t gone = 0;
    for (VertexId dense = 0; dense < base_.vertices(); ++dense) {
      const VertexName name = base_.NameOf(dense);
      for (; next < added.size() && added[next] < name; ++next) {
        visit(added[next], HolderOf(added[next])[0], std::optional<VertexId>());
      }
      const bool comes = next < added.size() && added[next] == name;
      const bool goes = gone < deleted.size() && deleted[gone] == name;
      if (comes) ++next;
      if (goes) ++gone;
      if (comes || (base_.alive(dense) && !goes)) {
        visit(name, holders_[dense % nodes_], std::optional<VertexId>(dense));
      }
    }
    for (; next < added.size(); ++next) {
      visit(added[next], HolderOf(added[next])[0], std::optional<VertexId>());
    }
  }

  // The node that brings its list: where the base has it, so that this is at hand.
  std::span<const NodeId> HolderOf(VertexName name) const {
    const auto dense = base_.ids().Find(name);
    return std::span(holders_).subspan(dense ? *dense % nodes_ : name % nodes_, 1);
  }
  OriginalIds Ids() const;

 private:
  const BaseGraph& base_;
  const std::vector<NodeId> holders_;  // by partition
  const NodeId nodes_;
  const VertexChanges changes_;
};

// Collective: sends every node the changes of which it is a holder; those come back in order.
// `each`: the bytes of properties. `room` is collective as well: memory that others can read.
Result<EdgeChanges> DealOut(Cluster& cluster, EdgeChanges changes, std::uint64_t each,
                            const std::function<std::span<const NodeId>(VertexName)>& holders,
                            const std::function<Result<SharedRegion>(std::uint64_t)>& room);

}  // namespace slimgraph::txn
