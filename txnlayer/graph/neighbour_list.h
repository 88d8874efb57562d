// What a query finds of a vertex's neighbours, in the order that it wants. Lists of hubs are long,
// so nothing is copied: what the base has of them is looked at where it lies. That holds until the
// transaction's next operation, or its end.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "txnlayer/graph/sides.h"

namespace slimgraph::txn {

struct StoredEdge {
  VertexName neighbour = 0;
  GraphTime time = 0;  // kTimePending: of this very transaction
};

// What is to be put in the order of its times, newest first, and what comes behind it.
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

  // visit(edge, properties) in order; properties are null where they are not wanted, or all zeros.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Part& part : parts_) {
      if (part.ids == nullptr) {
        visit(part.edge, part.properties);
      } else if (shape_.directed) {
        VisitRun(part, visit, [this](VertexId id) { return VertexOfSide(shape_, (*ids_)[id]); });
      } else if (ids_->contiguous()) {
        VisitRun(part, visit, [least = ids_->first()](VertexId id) { return least + id; });
      } else {
        VisitRun(part, visit, [this](VertexId id) { return (*ids_)[id]; });
      }
    }
  }

  // --- for who makes it
  // Empties it; `ids`: what vertices of the base are called. Names are of sides (sides.h).
  void Begin(const OriginalIds& ids, const GraphShape& shape) {
    ids_ = &ids;
    shape_ = shape;
    size_ = 0;
    parts_.clear();
  }
  void Add(const StoredEdge& edge, const std::byte* properties) {
    parts_.push_back({nullptr, 1, {VertexOfSide(shape_, edge.neighbour), edge.time}, properties});
    ++size_;
  }
  // Edges of the base that lie side by side, and of which no more is known than their ends.
  void AddRun(const VertexId* ids, std::uint64_t count) {
    parts_.push_back({ids, count, {}, nullptr});
    size_ += count;
  }

 private:
  struct Part {
    const VertexId* ids;  // null: it is one edge
    std::uint64_t count;
    StoredEdge edge;
    const std::byte* properties;  // of one edge; or null
  };

  template <typename Visit, typename NameOf>
  void VisitRun(const Part& part, Visit& visit, NameOf name_of) const {
    for (std::uint64_t i = 0; i < part.count; ++i) {
      visit(StoredEdge{name_of(part.ids[i]), 0}, nullptr);
    }
  }

  const OriginalIds* ids_ = nullptr;
  GraphShape shape_;
  std::uint64_t size_ = 0;
  std::vector<Part> parts_;
};

}  // namespace slimgraph::txn
