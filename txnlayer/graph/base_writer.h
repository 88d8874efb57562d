// Writes the next lists of a partition that a node holds into the spare memory of the base, in the
// order of their vertices: what the lists are, and what changes make of them.
#pragma once

#include <span>
#include <vector>

#include "txnlayer/graph/edge_marks.h"
#include "txnlayer/graph/snapshot_gather.h"

namespace slimgraph::txn {

class BaseWriter {
 public:
  // `ids`: of all vertices of the next lists, the first of which are those of the base.
  BaseWriter(TransactionalGraph& graph, const OriginalIds& ids, Rank rank);

  // The vertex's changes by neighbour; where theirs are among `properties`, they say. False: there
  // is no room for the list.
  bool AddList(VertexId vertex, std::span<const EdgeChange> changes, Bytes properties);

  struct Sums {
    std::uint64_t arcs = 0;
    std::uint64_t loops = 0;
  };
  const Sums& sums() const { return sums_; }
  std::span<const std::uint32_t> lengths() const { return lengths_; }
  // Arcs of which more is known, and what that takes.
  std::uint64_t known() const { return marks_.known(); }
  std::uint64_t PropertyBytes() const { return known() > 0 ? marks_.bytes() : 0; }

 private:
  // A node's memory of the lists that are read, or of those that are written.
  struct Memory {
    std::span<VertexId> lists;
    MutableBytes marks;
    MutableBytes records;
    Memory(Fabric& fabric, const BaseGraph::Regions& regions);
  };
  void Copy(EdgeOffset first, EdgeOffset count);
  void Add(VertexId neighbour, const EdgeChange& change, Bytes properties);

  const BaseGraph& base_;
  Rank rank_;
  const OriginalIds& ids_;
  const GraphShape shape_;
  Memory now_;
  Memory next_;
  MarkWriter marks_;
  Sums sums_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace slimgraph::txn
