// Reads the base for a transaction: straight from memory where this node holds it, else one-sided,
// while the other coroutines run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {

class BaseReader {
 public:
  BaseReader(TransactionalGraph& graph, Transaction& transaction)
      : graph_(graph), transaction_(transaction) {}

  // Each is false, or empty, when a node has died: the transaction is then to be aborted.
  // The list of a vertex, as dense ids, until the next call.
  bool List(const BaseGraph::Vertex& vertex, std::span<const VertexId>& list);
  // The properties and times of a list's edges; empty: all zeros.
  bool EdgeProperties(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count,
                      Bytes& properties);
  bool EdgeTimes(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count,
                 std::span<const GraphTime>& times);
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
  bool Read(const BaseGraph::Vertex& vertex, RegionId BaseGraph::Regions::*which,
            std::uint64_t offset, std::uint64_t bytes, std::vector<std::byte>& room, Bytes& found);

  TransactionalGraph& graph_;
  Transaction& transaction_;
  std::vector<std::byte> list_room_;
  std::vector<std::byte> property_room_;
  std::vector<std::byte> mark_room_;
  std::vector<std::byte> known_room_;
  std::vector<GraphTime> times_;
};

}  // namespace slimgraph::txn
