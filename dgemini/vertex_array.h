// A value for each vertex of the graph, zero at first. The array covers all vertices, but only
// touched pages take memory: those of the node's own vertices, and of vertices that it has copies
// of.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph::dgemini {

template <typename T>
class VertexArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // kHuge for random access: with small pages, nearly every access would miss the TLB. kSmall for
  // access in order: less memory that is never touched is allocated.
  enum class Pages { kHuge, kSmall };

  VertexArray() = default;
  explicit VertexArray(std::size_t size, Pages pages = Pages::kHuge)
      : size_(size), bytes_(size * sizeof(T)) {
    if (size == 0) return;
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SLIM_CHECK(memory != MAP_FAILED, "no address space for {} bytes", bytes_);
    if (pages == Pages::kHuge) ::madvise(memory, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<T*>(memory);
  }
  VertexArray(VertexArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_), bytes_(other.bytes_) {}
  VertexArray& operator=(VertexArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~VertexArray() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t v) { return data_[v]; }
  const T& operator[](std::size_t v) const { return data_[v]; }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace slimgraph::dgemini
