// A value for each marked vertex of the graph; a bitmap over all vertices has the marks. Unmarked
// vertices take no memory for values.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph::dgemini {

template <typename T>
class MarkedArray {
 public:
  explicit MarkedArray(std::vector<std::uint64_t> marks) : marks_(std::move(marks)) {
    before_.reserve(marks_.size());
    VertexId before = 0;
    for (const std::uint64_t word : marks_) {
      before_.push_back(before);
      before += static_cast<VertexId>(std::popcount(word));
    }
    values_.resize(before);
  }
  // `v` must be marked.
  T& operator[](VertexId v) {
    const std::uint64_t below = marks_[v / 64] & ((std::uint64_t{1} << (v % 64)) - 1);
    return values_[before_[v / 64] + static_cast<VertexId>(std::popcount(below))];
  }
  // Calls body(v, value) for each marked vertex, in ascending order.
  template <typename Body>
  void ForEach(Body body) {
    auto value = values_.begin();
    for (std::size_t word = 0; word < marks_.size(); ++word) {
      for (std::uint64_t bits = marks_[word]; bits != 0; bits &= bits - 1) {
        body(static_cast<VertexId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))),
             *value++);
      }
    }
  }

 private:
  std::vector<std::uint64_t> marks_;
  std::vector<VertexId> before_;  // by word: the number of marked vertices before it
  std::vector<T> values_;
};

}  // namespace slimgraph::dgemini
