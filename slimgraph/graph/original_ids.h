// The ids by which the user knows the vertices. Dense ids 0..V-1 follow their order, so a list of
// results by dense id is one by original id.
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
  // first, first + 1, …
  OriginalIds(std::uint64_t first, VertexId count) : first_(first), count_(count) {}
  // `ids` ascend.
  explicit OriginalIds(std::vector<std::uint64_t> ids)
      : count_(static_cast<VertexId>(ids.size())), ids_(std::move(ids)) {}

  VertexId count() const { return count_; }
  bool contiguous() const { return ids_.empty(); }
  std::uint64_t first() const { return ids_.empty() ? first_ : ids_.front(); }
  const std::vector<std::uint64_t>& list() const { return ids_; }  // empty if contiguous

  std::uint64_t operator[](VertexId v) const { return ids_.empty() ? first_ + v : ids_[v]; }

  // The dense id, or nothing when no vertex is called `id`.
  std::optional<VertexId> Find(std::uint64_t id) const {
    if (ids_.empty()) {
      if (id < first_ || id - first_ >= count_) return std::nullopt;
      return static_cast<VertexId>(id - first_);
    }
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (at == ids_.end() || *at != id) return std::nullopt;
    return static_cast<VertexId>(at - ids_.begin());
  }

 private:
  std::uint64_t first_ = 0;
  VertexId count_ = 0;
  std::vector<std::uint64_t> ids_;
};

}  // namespace slimgraph
