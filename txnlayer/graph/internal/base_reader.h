// Reads the base for a transaction: from local memory if this node holds it, else one-sided or by
// message, as the stage code says for reads. The other coroutines run meanwhile.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "txnlayer/graph/internal/edge_marks.h"
#include "txnlayer/graph/transactional_graph.h"
#include "txnlayer/internal/engine/range_reads.h"

namespace slimgraph::txn {

// A list of the base, and the marked edges in it, by ascending position.
struct BaseEdges {
  std::span<const VertexId> ids;
  std::span<const MarkedEdge> marked;
};

class BaseReader {
 public:
  BaseReader(TransactionalGraph& graph, Transaction& transaction)
      : graph_(graph), transaction_(transaction) {}

  // The functions below that return bool return false if a node has died: the transaction must then
  // abort.
  // The list of a vertex, as dense ids. Valid until the next call.
  bool ReadList(const BaseGraph::Vertex& vertex, std::span<const VertexId>& list);
  // The same, with the times and properties of its marked edges.
  bool ReadList(const BaseGraph::Vertex& vertex, BaseEdges& list);
  // The time and properties of one edge: one element if the edge is marked, else none.
  bool ReadMark(const BaseGraph::Vertex& vertex, EdgeOffset position,
                std::span<const MarkedEdge>& marked);
  bool ReadVertexProperties(const BaseGraph::Vertex& vertex, Bytes& properties);

  // Reads one neighbour of a list.
  bool ReadNeighbour(const BaseGraph::Vertex& vertex, EdgeOffset position, VertexId& neighbour);
  // The position of the neighbour in the list of `vertex`, or nothing.
  bool FindNeighbour(const BaseGraph::Vertex& vertex, VertexId neighbour,
                     std::optional<EdgeOffset>& position);

  // The vertex whose list is faster to search.
  const BaseGraph::Vertex& FasterToSearch(const BaseGraph::Vertex& one,
                                          const BaseGraph::Vertex& other) const;

 private:
  bool IsLocal(const BaseGraph::Vertex& vertex) const;
  // A range of a region of the base. `room` receives it if it is read from another node.
  struct Part {
    RegionId BaseGraph::Regions::*which;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::vector<std::byte>& room;
    Bytes found = {};
  };
  Part ListPart(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count);
  Part MarksPart(const MarkRange& range);
  bool Read(const BaseGraph::Vertex& vertex, Part& part) { return Read(vertex, {&part, 1}); }
  // Reads all parts with one doorbell, or one message.
  bool Read(const BaseGraph::Vertex& vertex, std::span<Part> parts);
  // `marks`: of the range, already read.
  bool ReadRecords(const BaseGraph::Vertex& vertex, const MarkRange& range, Bytes marks,
                   std::span<const MarkedEdge>& marked);

  TransactionalGraph& graph_;
  Transaction& transaction_;
  std::vector<std::byte> list_room_;
  std::vector<std::byte> property_room_;
  std::vector<std::byte> mark_room_;
  std::vector<std::byte> record_room_;
  std::vector<MarkedEdge> marked_;
  RangeReads asked_;
};

}  // namespace slimgraph::txn
