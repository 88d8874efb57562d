// The result of a query for a vertex's neighbours, in the requested order. Lists of hubs are long,
// so nothing is copied: the result refers to the base. It is valid until the transaction's next
// operation, or its end.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "txnlayer/graph_model/dense_id_map.h"
#include "txnlayer/graph_model/sides.h"

namespace slimgraph::txn {

struct StoredEdge {
  VertexName neighbour = 0;
  GraphTime time = 0;  // kTimePending: written by this transaction
};

// Edges to be sorted by time, newest first, and the runs that follow them.
struct TimedEdges {
  struct Edge {
    StoredEdge edge;
    const std::byte* properties;  // null: zeros
  };
  std::vector<Edge> edges;
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // of the base's list: first, count
};

class NeighbourList {
 public:
  std::uint64_t size() const { return size_; }

  // visit(edge, properties) in order. Properties are null if edges have none, if the query did not
  // ask for them, or if they are zeros.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Part& part : parts_) {
      if (part.ids == nullptr) {
        visit(part.edge, part.properties);
      } else if (shape_.directed) {
        VisitRun(part, visit, [this](VertexId id) { return VertexOfSide(shape_, (*ids_)[id]); });
      } else if (ids_->contiguous()) {
        VisitRun(part, visit,
                 [least = ids_->in_order().first()](VertexId id) { return least + id; });
      } else {
        VisitRun(part, visit, [this](VertexId id) { return (*ids_)[id]; });
      }
    }
  }

  // --- for the producer
  // Empties the list. `ids`: of the base. All names and ids here are of sides (sides.h).
  void Begin(const DenseIdMap& ids, const GraphShape& shape) {
    ids_ = &ids;
    shape_ = shape;
    size_ = 0;
    parts_.clear();
  }
  void Add(const StoredEdge& edge, const std::byte* properties) {
    if (shape_.edge_bytes == 0) properties = nullptr;
    parts_.push_back({nullptr, 1, {VertexOfSide(shape_, edge.neighbour), edge.time}, properties});
    ++size_;
  }
  // Adjacent edges of the base that have no marks.
  void AddRun(const VertexId* ids, std::uint64_t count) {
    parts_.push_back({ids, count, {}, nullptr});
    size_ += count;
  }

 private:
  struct Part {
    const VertexId* ids;  // null: one edge
    std::uint64_t count;
    StoredEdge edge;
    const std::byte* properties;  // only for one edge; may be null
  };

  template <typename Visit, typename NameOf>
  void VisitRun(const Part& part, Visit& visit, NameOf name_of) const {
    for (std::uint64_t i = 0; i < part.count; ++i) {
      visit(StoredEdge{name_of(part.ids[i]), 0}, nullptr);
    }
  }

  const DenseIdMap* ids_ = nullptr;
  GraphShape shape_;
  std::uint64_t size_ = 0;
  std::vector<Part> parts_;
};

}  // namespace slimgraph::txn
