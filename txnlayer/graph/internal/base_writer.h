// Writes the next lists of a partition into the spare memory of the base, in the order of dense
// ids. A next list is the current list with the changes applied.
#pragma once

#include <span>
#include <vector>

#include "txnlayer/graph/internal/edge_marks.h"
#include "txnlayer/graph/internal/snapshot_gather.h"

namespace slimgraph::txn {

class BaseWriter {
 public:
  // `ids`: the vertices of the next lists, with those of the base first.
  BaseWriter(TransactionalGraph& graph, const DenseIdMap& ids, Rank rank);

  // `changes`: of the vertex, sorted by neighbour; their properties are in `properties`. False:
  // there is no room for the list.
  bool AddList(VertexId vertex, std::span<const EdgeChange> changes, Bytes properties);

  struct Sums {
    std::uint64_t arcs = 0;
    std::uint64_t loops = 0;
  };
  const Sums& sums() const { return sums_; }
  std::span<const std::uint32_t> lengths() const { return lengths_; }
  // The number of marked arcs, and the bytes of marks and records.
  std::uint64_t marked() const { return marks_.marked(); }
  std::uint64_t PropertyBytes() const { return marked() > 0 ? marks_.bytes() : 0; }

 private:
  // This node's memory of the current lists, or of the next ones.
  struct Memory {
    std::span<VertexId> lists;
    MutableBytes marks;
    MutableBytes records;
    Memory(Fabric& fabric, const BaseGraph::Regions& regions);
  };
  void Copy(EdgeOffset first, EdgeOffset count);
  void Add(const EdgeChange& change, Bytes properties);

  const BaseGraph& base_;
  Rank rank_;
  const DenseIdMap& ids_;
  const GraphShape shape_;
  Memory current_;
  Memory next_;
  MarkWriter marks_;
  Sums sums_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace slimgraph::txn
