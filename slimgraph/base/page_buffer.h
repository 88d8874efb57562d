// Zeroed memory directly from the system, which goes back to the system as soon as it is released.
// For large buffers that determine the peak memory use; malloc would keep freed pages.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "slimgraph/base/result.h"

namespace slimgraph {

class PageBuffer {
 public:
  PageBuffer() = default;
  // The system allocates a page when it is first touched, so a size that is an upper bound costs
  // nothing. Small pages suit buckets that fill side by side: with huge pages, all of them would be
  // allocated at once. Huge pages are filled in a tenth of the time.
  enum class Pages { kSmall, kHuge };
  static Result<PageBuffer> Allocate(std::size_t bytes, Pages pages = Pages::kSmall);

  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PageBuffer();

  std::size_t bytes() const { return bytes_; }
  std::byte* data() const { return data_; }

  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

  // Keeps the first `bytes`; the contents do not move.
  void Shrink(std::size_t bytes);
  // Gives the whole pages inside [first, first + bytes) back to the system; their contents are
  // lost.
  void Release(std::size_t first, std::size_t bytes);

 private:
  PageBuffer(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace slimgraph
