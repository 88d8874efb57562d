// A vector of vertices for push_back in innermost loops. Unlike std::vector, it keeps the code that
// grows the memory out of line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <utility>

#include "dgemini/internal/prefetch.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph::dgemini {

class VertexList {
 public:
  VertexList() = default;
  VertexList(VertexList&& other) noexcept { swap(other); }
  VertexList& operator=(VertexList&& other) noexcept {
    VertexList(std::move(other)).swap(*this);
    return *this;
  }
  ~VertexList() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }
  const VertexId* begin() const { return data_; }
  const VertexId* end() const { return data_ + size_; }

  void push_back(VertexId v) {
    if (size_ == capacity_) [[unlikely]]
      Grow(size_ + 1);
    data_[size_++] = v;
  }
  void append(std::span<const VertexId> some) {
    if (size_ + some.size() > capacity_) Grow(size_ + some.size());
    std::copy(some.begin(), some.end(), data_ + size_);
    size_ += some.size();
  }
  // Keeps the vertices for which keep(v, later) returns true, in their order. `later` is the vertex
  // that is kPrefetchDistance positions later, for prefetching.
  template <typename Keep>
  void Filter(Keep keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const VertexId v = data_[i];
      if (keep(v, data_[std::min(i + kPrefetchDistance, size_ - 1)])) data_[kept++] = v;
    }
    size_ = kept;
  }
  void clear() { size_ = 0; }
  void swap(VertexList& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  [[gnu::noinline]] void Grow(std::size_t least) {
    const std::size_t capacity = std::max({least, 2 * capacity_, std::size_t{16}});
    void* const data = std::realloc(data_, capacity * sizeof(VertexId));
    SLIM_CHECK(data != nullptr, "no memory for {} vertices", capacity);
    data_ = static_cast<VertexId*>(data);
    capacity_ = capacity;
  }

  VertexId* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace slimgraph::dgemini
