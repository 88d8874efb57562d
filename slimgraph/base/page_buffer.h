// Memory straight from the system, zeroed, that goes back to the system the moment it is released.
// For big buffers whose peak counts; malloc would keep freed pages for itself.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "slimgraph/base/result.h"

namespace slimgraph {

class PageBuffer {
 public:
  PageBuffer() = default;
  // Pages are taken when they are first touched, so an upper bound costs nothing. Small ones suit
  // buckets that fill side by side, which would take all huge ones at once; huge ones are filled in
  // a tenth of the time.
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
  // Gives back the whole pages inside [first, first + bytes); what was there is lost.
  void Release(std::size_t first, std::size_t bytes);

 private:
  PageBuffer(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace slimgraph
