// Writes the next lists of a partition that a node holds into the spare memory of the base, in the
// order of their vertices: what the lists are, and what changes make of them.
#pragma once

#include <span>
#include <vector>

#include "txnlayer/graph/snapshot_gather.h"
#include "txnlayer/graph/sparse_times.h"

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
    std::uint64_t known = 0;            // arcs with a time
    std::uint64_t with_properties = 0;  // more than none: some may have others than zeros
  };
  const Sums& sums() const { return sums_; }
  std::span<const std::uint32_t> lengths() const { return lengths_; }
  // What times and properties take.
  std::uint64_t PropertyBytes() const {
    return (sums_.known > 0 ? times_.bytes() : 0) +
           (sums_.with_properties > 0 ? sums_.arcs * edge_bytes_ : 0);
  }

 private:
  // A node's memory of the lists that are read, or of those that are written.
  struct Memory {
    std::span<VertexId> lists;
    MutableBytes properties;
    MutableBytes marks;
    MutableBytes times;
    Memory(Fabric& fabric, const BaseGraph::Regions& regions);
  };
  void Copy(EdgeOffset first, EdgeOffset count);
  void Add(VertexId neighbour, const EdgeChange& change, Bytes properties);

  const BaseGraph& base_;
  Rank rank_;
  const OriginalIds& ids_;
  std::uint64_t edge_bytes_;
  Memory now_;
  Memory next_;
  SparseTimes times_;
  std::vector<GraphTime> copied_;
  Sums sums_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace slimgraph::txn
