// The read-mostly part of a transactional graph: sorted lists, partitioned over all nodes in
// regions that every node reads, and an index of the lists on each node. Nothing changes while
// transactions run, so reads need neither locks nor validation. A fold (fold.h) writes the next
// lists beside the current ones, and switches to them between transactions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/compact_offsets.h"
#include "txnlayer/graph_model/base_source.h"
#include "txnlayer/graph_model/dense_id_map.h"
#include "txnlayer/graph_model/graph_shape.h"
#include "txnlayer/graph_model/sides.h"
#include "txnlayer/internal/store/table.h"

namespace slimgraph::txn {

class MarkWriter;

// In a directed graph, the vertices of the base are sides (sides.h), except for vertex properties.
class BaseGraph {
 public:
  // A vertex of the base, and where its list lies in the memory of its partition.
  struct Vertex {
    VertexId dense = 0;
    NodeId partition = 0;
    VertexId local = 0;
    EdgeOffset begin = 0;
    EdgeOffset length = 0;
  };

  // Collective. `folds`: how many arcs folds may add; nothing: the base is never folded.
  static Result<std::unique_ptr<BaseGraph>> Load(Cluster& cluster, const BaseSource& source,
                                                 const GraphShape& shape, std::uint32_t replicas,
                                                 std::optional<EdgeOffset> folds);

  // The number of dense ids. An id can be a gap: it has no living vertex.
  VertexId vertices() const { return current_.ids.count(); }
  VertexId alive_vertices() const { return vertices() - current_.gaps; }
  bool alive(VertexId dense) const { return current_.alive(dense); }
  std::uint64_t edges() const { return current_.edges; }
  const DenseIdMap& ids() const { return current_.ids; }
  VertexName NameOf(VertexId dense) const { return current_.ids[dense]; }
  // Nothing if there is no such vertex.
  std::optional<VertexId> DenseOf(VertexName name) const { return current_.DenseOf(name); }
  // Local: does not communicate.
  std::optional<Vertex> Find(VertexName name) const;
  Vertex At(VertexId dense) const;
  // The same, faster if `dense` is the next vertex of the partition of `before`.
  Vertex After(const Vertex& before, VertexId dense) const;
  // The arc of that number: its vertex, and its position in the vertex's list.
  EdgeOffset arcs() const { return current_.arcs; }
  EdgeOffset arcs_of(NodeId partition) const {
    const CompactOffsets& index = current_.index[partition];
    return index.group_begin(index.groups());
  }
  std::pair<Vertex, EdgeOffset> Arc(EdgeOffset number) const;
  VertexId VertexOf(EdgeOffset number) const { return ListOf(number).dense; }

  bool has_vertex_properties() const { return has_vertex_properties_; }
  // The vertex whose record has the properties, with its location in memory but without a list.
  Vertex PropertyVertexOf(const Vertex& vertex) const {
    const VertexId number = VertexOfSide(shape_, vertex.dense);
    return {number, number % nodes_, number / nodes_, 0, 0};
  }
  // Whether some edges have times or properties.
  bool has_marks() const { return current_.has_marks; }

  // The memory of one partition in one of its copies.
  struct Regions {
    RegionId lists = 0;              // VertexId, dense
    RegionId edge_marks = 0;         // edge_marks.h; only if has_marks()
    RegionId edge_records = 0;       // only if has_marks()
    RegionId vertex_properties = 0;  // by PropertyVertexOf().local; if has_vertex_properties()
  };
  const Regions& regions(Rank rank) const { return current_.regions[rank]; }

  // Bytes on this node: of lists and index, and of vertex and edge properties.
  std::uint64_t list_bytes() const { return current_.list_bytes; }
  std::uint64_t property_bytes() const { return current_.property_bytes; }

  // --- folding
  bool folds() const { return !spare_.empty(); }
  // Zeroed memory for the next lists of this node's copy of that rank.
  const Regions& spare(Rank rank) const { return spare_[rank]; }
  // How many arcs that memory has room for.
  EdgeOffset spare_arcs(Rank rank) const { return spare_arcs_[rank]; }
  // The content of the next lists, the same on all nodes.
  struct Contents {
    DenseIdMap ids;                   // all vertices; existing dense ids do not change
    std::vector<std::uint64_t> dead;  // a bit for each dense id, set for gaps; empty: no gaps
    VertexId gaps = 0;                // the number of gaps
    EdgeOffset arcs = 0;
    std::uint64_t edges = 0;
    bool has_marks = false;
    std::vector<CompactOffsets> index;  // by partition
    std::uint64_t list_bytes = 0;       // on this node
    std::uint64_t property_bytes = 0;   // on this node

    bool alive(VertexId dense) const {
      return dead.empty() || (dead[dense / 64] >> (dense % 64) & 1) == 0;
    }
    std::optional<VertexId> DenseOf(VertexName name) const {
      const auto dense = ids.Find(name);
      return dense && alive(*dense) ? dense : std::nullopt;
    }
  };
  // The vertices of the next lists, after the vertices in `added` have come and those in `deleted`
  // have gone. Both are sorted. `added` may have vertices that the base already has.
  Contents AfterVertexChanges(std::span<const VertexName> added,
                              std::span<const VertexName> deleted) const;
  // The same from a result that is known: `more` are the names of all new dense ids, `dead` the
  // names of all gaps. Both are sorted.
  Contents WithDenseIds(std::span<const VertexName> more, std::span<const VertexName> dead) const;
  // Collective, while no transaction runs: swaps the lists in the spare memory with the current
  // ones. Zero the spare memory before it is written again. Returns the previous content; a second
  // Switch with it undoes the first.
  Contents Switch(Contents next);

 private:
  struct CurrentContents : Contents {
    std::vector<Regions> regions;  // by rank
  };

  explicit BaseGraph(const GraphShape& shape) : shape_(shape) {}
  // The list that has the arc. `number` becomes the arc's number within its partition.
  Vertex ListOf(EdgeOffset& number) const;
  // Where the lists are read from. `lists`: null if there are no vertices. `sides`: null if the
  // lists are those of the file.
  struct Loading {
    const BaseSource& source;
    const GraphSource* lists;
    const SidesSource* sides;
    std::optional<EdgeOffset> folds;
  };
  Status ReadIndex(const GraphSource& lists);
  Result<Regions> MakeRegions(Cluster& cluster, EdgeOffset arcs, VertexId carriers,
                              bool folds) const;
  Status LoadPart(Cluster& cluster, const Loading& loading, NodeId partition);
  // `weights`: of the part's arcs.
  Status LoadMarks(const Loading& loading, const VertexPart& part,
                   std::span<const EdgeOffset> offsets, Bytes weights, MarkWriter& writer) const;

  const GraphShape shape_;
  NodeId nodes_ = 1;
  bool has_vertex_properties_ = false;
  std::uint64_t vertex_property_bytes_ = 0;
  CurrentContents current_;
  std::vector<Regions> spare_;  // by rank; empty: the base is never folded
  std::vector<EdgeOffset> spare_arcs_;
};

}  // namespace slimgraph::txn
