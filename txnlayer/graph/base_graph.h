// The read-mostly part of a transactional graph: sorted lists, dealt out to all nodes in regions
// that every node reads, and an index of them on each. Nothing of it changes while transactions
// run, so what is read of it needs no lock and no second look. Where changes are folded into it
// (fold.h), the next lists are written beside these, and take their place between transactions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/graph/original_ids.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/graph/slim_file.h"
#include "slimgraph/remote/compact_offsets.h"
#include "txnlayer/graph/graph_shape.h"
#include "txnlayer/graph/sides.h"
#include "txnlayer/store/table.h"

namespace slimgraph::txn {

class MarkWriter;

// Whether a graph can be a base: without duplicates, ids not too large, and of a directed one the
// lists of both directions.
Status CheckBaseFile(const SlimFile& file);

// Where the base comes from.
class BaseSource {
 public:
  virtual ~BaseSource() = default;
  // That CheckBaseFile likes; null: there are no vertices.
  virtual const SlimFile* file() const = 0;
  // Fills in what vertices and edges carry, but for weights, which the file has; false: it is all
  // zeros. Called by any thread. Arcs of a directed graph's incoming lists come behind all of the
  // outgoing.
  virtual bool has_vertex_properties() const { return false; }
  virtual bool has_edge_properties() const { return false; }
  virtual bool has_edge_times() const { return false; }
  virtual Status ReadVertexProperties(VertexId first, MutableBytes into) const;
  virtual Status ReadEdgeProperties(EdgeOffset first, MutableBytes into) const;
  virtual Status ReadEdgeTimes(EdgeOffset first, std::span<GraphTime> into) const;
};

// Of a directed graph, its vertices are sides (sides.h) in all but what they carry.
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

  // Collective. `folds`: what is to be folded into it may be so many arcs more.
  static Result<std::unique_ptr<BaseGraph>> Load(Cluster& cluster, const BaseSource& source,
                                                 const GraphShape& shape, std::uint32_t replicas,
                                                 std::optional<EdgeOffset> folds);

  // Places for vertices: of those that are there, and of some that are not.
  VertexId vertices() const { return now_.ids.count(); }
  VertexId alive_vertices() const { return vertices() - now_.gaps; }
  bool alive(VertexId dense) const { return now_.alive(dense); }
  std::uint64_t edges() const { return now_.edges; }
  const OriginalIds& ids() const { return now_.ids; }
  VertexName NameOf(VertexId dense) const { return now_.ids[dense]; }
  // Where there is such a vertex.
  std::optional<VertexId> DenseOf(VertexName name) const { return now_.DenseOf(name); }
  // Local: no other node is asked.
  std::optional<Vertex> Find(VertexName name) const;
  Vertex At(VertexId dense) const;
  // The same, sooner where that is the next one of the partition of `before`.
  Vertex After(const Vertex& before, VertexId dense) const;
  // An arc by number: its vertex, and its place in the list.
  EdgeOffset arcs() const { return now_.arcs; }
  EdgeOffset arcs_of(NodeId partition) const {
    const CompactOffsets& index = now_.index[partition];
    return index.group_begin(index.groups());
  }
  std::pair<Vertex, EdgeOffset> Arc(EdgeOffset number) const;
  VertexId VertexOf(EdgeOffset number) const { return ListOf(number).dense; }

  bool has_vertex_properties() const { return has_vertex_properties_; }
  // Whose they are, with a place for their memory and none for a list.
  Vertex CarrierOf(const Vertex& vertex) const {
    const VertexId number = VertexOfSide(shape_, vertex.dense);
    return {number, number % nodes_, number / nodes_, 0, 0};
  }
  // Whether anything is known of any edge but its ends.
  bool has_marks() const { return now_.has_marks; }

  // One holder's memory of a partition: its copy of that rank.
  struct Regions {
    RegionId lists = 0;              // VertexId, dense
    RegionId edge_marks = 0;         // edge_marks.h; meaningless without
    RegionId edge_records = 0;       //
    RegionId vertex_properties = 0;  // by local number of CarrierOf; meaningless without
  };
  const Regions& regions(Rank rank) const { return now_.regions[rank]; }

  // What this node holds of it, in bytes: lists and index; and what vertices and edges carry.
  std::uint64_t list_bytes() const { return now_.list_bytes; }
  std::uint64_t property_bytes() const { return now_.property_bytes; }

  // --- folding
  bool folds() const { return !spare_.empty(); }
  // Where the next lists of this node's copy of that rank are written; zeroed.
  const Regions& spare(Rank rank) const { return spare_[rank]; }
  // For which it has room.
  EdgeOffset spare_arcs(Rank rank) const { return spare_arcs_[rank]; }
  // What the next lists are, on all nodes.
  struct Next {
    OriginalIds ids;                  // of all places; those that there were stay
    std::vector<std::uint64_t> dead;  // a bit for each place of no vertex; empty: there are none
    VertexId gaps = 0;                // how many
    EdgeOffset arcs = 0;
    std::uint64_t edges = 0;
    bool has_marks = false;
    std::vector<CompactOffsets> index;  // by partition
    std::uint64_t list_bytes = 0;       // of this node
    std::uint64_t property_bytes = 0;   //

    bool alive(VertexId dense) const {
      return dead.empty() || (dead[dense / 64] >> (dense % 64) & 1) == 0;
    }
    std::optional<VertexId> DenseOf(VertexName name) const {
      const auto dense = ids.Find(name);
      return dense && alive(*dense) ? dense : std::nullopt;
    }
  };
  // The places of the next lists, and which of them are of no vertex: when vertices have come that
  // are not in the base and others have gone, each in order.
  Next NextVertices(std::span<const VertexName> added, std::span<const VertexName> deleted) const;
  // The same from what it has come to: the names of all places behind those that there are, and
  // those of all that are of no vertex, each in order.
  Next NextPlaces(std::span<const VertexName> more, std::span<const VertexName> dead) const;
  // When no transaction runs, on all nodes: the lists in the spare memory take the place of those
  // that were. The memory of these is to be zeroed before it is written.
  // Returns what they were, with which the same undoes it.
  Next Switch(Next next);

 private:
  struct Content : Next {
    std::vector<Regions> regions;  // by rank
  };

  explicit BaseGraph(const GraphShape& shape) : shape_(shape) {}
  // The list in which an arc is. `number` becomes that among the arcs of its partition.
  Vertex ListOf(EdgeOffset& number) const;
  // Where its lists come from. `lists`: null without vertices; `sides`: null where they are the
  // file's own.
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
  // With the weights of the part's arcs.
  Status LoadMarks(const Loading& loading, const VertexPart& part,
                   std::span<const EdgeOffset> offsets, Bytes weights, MarkWriter& writer) const;

  const GraphShape shape_;
  NodeId nodes_ = 1;
  bool has_vertex_properties_ = false;
  std::uint64_t vertex_property_bytes_ = 0;
  Content now_;
  std::vector<Regions> spare_;  // by rank; empty: it stays as it is
  std::vector<EdgeOffset> spare_arcs_;
};

}  // namespace slimgraph::txn
