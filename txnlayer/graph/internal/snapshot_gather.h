// Reads a node's tables of the graph as of a given time while transactions change them, and
// combines the result with the base. README.md has the argument.
#pragma once

#include <functional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// The state of an edge in the last entry of its neighbour.
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

  // The index of its properties in EdgeChanges::properties.
  std::uint64_t properties_index = 0;

 private:
  VertexName vertex_ = 0;
  std::uint64_t word_ = 0;
  GraphTime time_ = 0;
};

inline VertexName NeighbourOf(const EdgeChange& change) { return change.neighbour(); }

// Orders by vertex and neighbour.
inline bool Before(const EdgeChange& one, const EdgeChange& other) {
  return one.vertex() != other.vertex() ? one.vertex() < other.vertex()
                                        : one.neighbour() < other.neighbour();
}

// Changes that blocks contain, in order, and their properties. All changes have equally many bytes
// of properties.
struct EdgeChanges {
  std::vector<EdgeChange> edges;
  std::vector<std::byte> properties;
};

// Vertices that exist and are not in the base, and the reverse. Both are sorted.
struct VertexChanges {
  std::vector<VertexName> added;
  std::vector<VertexName> deleted;
};

// Which nodes hold which partitions, at a moment between commits.
struct PartitionHolders {
  // Fails when the primary of a partition has died and no repair follows, as after a run.
  static Result<PartitionHolders> Find(Cluster& cluster, const View& view);
  // By partition: the primary, numbered as in `cluster`.
  std::vector<NodeId> primary_of;
  // A partition on this node, and the rank of this copy, which determines its memory.
  struct PartitionCopy {
    NodeId partition;
    Rank rank;
  };
  std::vector<PartitionCopy> primaries;
  // `copies`: all partitions and copies on this node, `primaries` included. `nodes_of`: by
  // partition, the nodes that have a copy of it.
  std::vector<PartitionCopy> copies;
  std::vector<std::vector<NodeId>> nodes_of;
};

// The changes in the tuples for which this node is the primary, as of that time, without edges that
// `wanted` rejects. Properties are included only if `properties` is set.
EdgeChanges FindEdges(TransactionalGraph& graph, const PartitionHolders& holders, GraphTime at,
                      bool properties, const std::function<bool(VertexName, VertexName)>& wanted);
// Collective: gathers the changes of all nodes.
Result<VertexChanges> FindVertices(Cluster& cluster, TransactionalGraph& graph,
                                   const PartitionHolders& holders, GraphTime at);

// The vertices of a graph at a time, in the order of names.
class SnapshotVertices {
 public:
  SnapshotVertices(const PartitionHolders& holders, const BaseGraph& base, VertexChanges changes)
      : base_(base),
        holders_(holders.primary_of),
        nodes_(static_cast<NodeId>(holders_.size())),
        changes_(std::move(changes)) {}

  // Whether they are exactly the vertices of the base, in its order.
  bool same_as_base() const {
    return changes_.added.empty() && changes_.deleted.empty() &&
           base_.alive_vertices() == base_.vertices() && base_.ids().ascending();
  }
  // visit(name, holder, dense id in the base or nothing) for each vertex.
  template <typename Visit>
  void ForEach(Visit visit) const {
    const auto& added = changes_.added;
    const auto& deleted = changes_.deleted;
    std::size_t next = 0;
    std::size_t gone = 0;
    base_.ids().ForEach([&](VertexName name, VertexId dense) {
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
    });
    for (; next < added.size(); ++next) {
      visit(added[next], HolderOf(added[next])[0], std::optional<VertexId>());
    }
  }

  // The node that builds the vertex's list: the one that has its list in the base.
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

// Collective: sends each change to all holders of its list. Returns this node's changes, sorted.
// `each`: bytes of properties per change. `room`: collective too; allocates memory that all nodes
// can read.
Result<EdgeChanges> SendToHolders(Cluster& cluster, EdgeChanges changes, std::uint64_t each,
                                  const std::function<std::span<const NodeId>(VertexName)>& holders,
                                  const std::function<Result<SharedRegion>(std::uint64_t)>& room);

}  // namespace slimgraph::txn
