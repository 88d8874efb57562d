// Maps the names of vertices to dense ids and back. A vertex keeps its dense id for ever: vertices
// that come later get ids after all others, whatever their names. Lists are in the order of their
// neighbours' names, which is the order of dense ids while `ascending`.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "slimgraph/base/learned_search.h"
#include "slimgraph/files/original_ids.h"
#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

class DenseIdMap {
 public:
  DenseIdMap() = default;
  explicit DenseIdMap(OriginalIds first);

  VertexId count() const { return first_.count() + static_cast<VertexId>(late_.size()); }
  VertexName operator[](VertexId dense) const {
    return dense < first_.count() ? first_[dense] : late_[dense - first_.count()];
  }
  // Nothing: no vertex of that name has a dense id.
  std::optional<VertexId> Find(VertexName name) const;
  // The largest of all names. There must be at least one.
  VertexName largest() const;

  bool ascending() const { return late_.empty(); }
  bool contiguous() const { return ascending() && first_.contiguous(); }
  // All names in order. Only while `ascending`.
  const OriginalIds& in_order() const { return first_; }

  bool Before(VertexId one, VertexId other) const {
    if (one < first_.count() && other < first_.count()) return one < other;
    return (*this)[one] < (*this)[other];
  }
  // The position of that name in a list, or the position where it would be inserted.
  std::size_t LowerBound(std::span<const VertexId> list, VertexName name) const;

  // visit(name, dense id) in the order of names.
  template <typename Visit>
  void ForEach(Visit visit) const {
    auto late = order_.begin();
    for (VertexId dense = 0; dense < first_.count(); ++dense) {
      const VertexName name = first_[dense];
      for (; late != order_.end() && (*this)[*late] < name; ++late) visit((*this)[*late], *late);
      visit(name, dense);
    }
    for (; late != order_.end(); ++late) visit((*this)[*late], *late);
  }

  // A copy of this, extended by names that have no dense id yet. The names ascend.
  DenseIdMap With(std::span<const VertexName> names) const;

 private:
  std::optional<VertexId> FindFirst(VertexName name) const;

  OriginalIds first_;
  // Where names lie in first_; null if that needs no search, or if it is not in their order.
  std::shared_ptr<const LearnedSearch> learned_;
  std::vector<VertexName> late_;  // the names of dense ids after those of first_
  std::vector<VertexId> order_;   // the same dense ids in the order of their names
};

}  // namespace slimgraph::txn
