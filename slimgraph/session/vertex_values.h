// A value for each vertex of a graph: the result of a program. It is complete on node 0, and empty
// on all others.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dgemini/vertex_array.h"
#include "slimgraph/files/original_ids.h"

namespace slimgraph {

template <typename T>
class VertexValues {
 public:
  VertexValues() = default;
  // `by_vertex` has the values by dense id.
  VertexValues(std::shared_ptr<const OriginalIds> ids, dgemini::VertexArray<T> by_vertex)
      : ids_(std::move(ids)), values_(std::move(by_vertex)) {
    if (ids_->ascending()) return;
    dgemini::VertexArray<T> in_order(ids_->count());
    for (VertexId i = 0; i < ids_->count(); ++i) in_order[i] = values_[ids_->InOrder(i)];
    values_ = std::move(in_order);
  }

  std::size_t size() const { return values_.size(); }
  // In ascending order of original ids.
  std::span<const T> values() const { return {values_.data(), values_.size()}; }
  // The original id of values()[i].
  std::uint64_t id(std::size_t i) const { return (*ids_)[ids_->InOrder(static_cast<VertexId>(i))]; }
  // The value of the vertex with this original id; nothing if there is none.
  std::optional<T> Find(std::uint64_t wanted) const {
    std::size_t low = 0;
    for (std::size_t high = size(); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (id(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < size() && id(low) == wanted ? std::optional(values_[low]) : std::nullopt;
  }

 private:
  std::shared_ptr<const OriginalIds> ids_;
  dgemini::VertexArray<T> values_;
};

}  // namespace slimgraph
