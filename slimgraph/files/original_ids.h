// The vertex ids of the input file. Inside the program, vertices have dense ids 0..V-1. Results are
// printed in the order of the original ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

class OriginalIds {
 public:
  OriginalIds() = default;
  // The ids are first, first + 1, …
  OriginalIds(std::uint64_t first, VertexId count) : first_(first), count_(count) {}
  // `ids` must ascend strictly.
  explicit OriginalIds(std::vector<std::uint64_t> ids)
      : count_(static_cast<VertexId>(ids.size())), ids_(std::move(ids)) {}
  // `ids` may have any order. Returns nothing if two of them are equal.
  static std::optional<OriginalIds> InAnyOrder(std::vector<std::uint64_t> ids);

  VertexId count() const { return count_; }
  bool contiguous() const { return ids_.empty(); }                              // and ascending
  std::uint64_t first() const { return ids_.empty() ? first_ : ids_.front(); }  // of vertex 0
  // Whether the dense ids follow the order of the original ids.
  bool ascending() const { return order_.empty(); }
  const std::vector<std::uint64_t>& list() const { return ids_; }  // empty if contiguous

  std::uint64_t operator[](VertexId v) const { return ids_.empty() ? first_ + v : ids_[v]; }

  // The vertex with the i-th smallest original id.
  VertexId InOrder(VertexId i) const { return order_.empty() ? i : order_[i]; }
  // The graph must have a vertex.
  std::uint64_t smallest() const { return (*this)[InOrder(0)]; }
  std::uint64_t largest() const { return (*this)[InOrder(count_ - 1)]; }

  // The dense id of the vertex with the original id `id`, or nothing if there is none.
  std::optional<VertexId> Find(std::uint64_t id) const;

 private:
  std::uint64_t first_ = 0;
  VertexId count_ = 0;
  std::vector<std::uint64_t> ids_;
  // The dense ids by ascending original id; empty if they are 0, 1, …
  std::vector<VertexId> order_;
};

}  // namespace slimgraph
