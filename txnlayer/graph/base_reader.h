// Reads the base for a transaction: straight from memory where this node holds it, else one-sided,
// while the other coroutines run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "txnlayer/graph/edge_marks.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

// A list of the base, and those of its edges of which more is known, in the order of their places.
struct BaseEdges {
  std::span<const VertexId> ids;
  std::span<const KnownEdge> known;
};

class BaseReader {
 public:
  BaseReader(TransactionalGraph& graph, Transaction& transaction)
      : graph_(graph), transaction_(transaction) {}

  // Each is false, or empty, when a node has died: the transaction is then to be aborted.
  // The list of a vertex, as dense ids, until the next call.
  bool List(const BaseGraph::Vertex& vertex, std::span<const VertexId>& list);
  // The same with all that is known of its edges.
  bool List(const BaseGraph::Vertex& vertex, BaseEdges& list);
  // What is known of one edge: nothing, or one.
  bool Known(const BaseGraph::Vertex& vertex, EdgeOffset place, std::span<const KnownEdge>& known);
  bool VertexProperties(const BaseGraph::Vertex& vertex, Bytes& properties);

  // One neighbour.
  bool Neighbour(const BaseGraph::Vertex& vertex, EdgeOffset place, VertexId& neighbour);
  // Where in the list of `vertex` the neighbour is; nothing: nowhere.
  bool Find(const BaseGraph::Vertex& vertex, VertexId neighbour, std::optional<EdgeOffset>& place);

  // Whose list is quicker to look into.
  const BaseGraph::Vertex& Nearer(const BaseGraph::Vertex& one,
                                  const BaseGraph::Vertex& other) const;

 private:
  bool Here(const BaseGraph::Vertex& vertex) const;
  // A part of a region of the base, and where it is to be put when it is not here.
  struct Part {
    RegionId BaseGraph::Regions::*which;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::vector<std::byte>& room;
    Bytes found = {};
  };
  Part ListOf(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count);
  Part MarksOf(const MarkRange& range);
  bool Read(const BaseGraph::Vertex& vertex, Part& part) { return Read(vertex, {&part, 1}); }
  // All with one doorbell.
  bool Read(const BaseGraph::Vertex& vertex, std::span<Part> parts);
  // With the marks of the range at hand.
  bool ReadRecords(const BaseGraph::Vertex& vertex, const MarkRange& range, Bytes marks,
                   std::span<const KnownEdge>& known);

  TransactionalGraph& graph_;
  Transaction& transaction_;
  std::vector<std::byte> list_room_;
  std::vector<std::byte> property_room_;
  std::vector<std::byte> mark_room_;
  std::vector<std::byte> record_room_;
  std::vector<KnownEdge> known_;
};

}  // namespace slimgraph::txn
