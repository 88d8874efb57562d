// Reads fixed-size records from a byte stream. Errors name the byte. Memory grows with the bytes
// that were read, never with a count that a header claims.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/files/internal/byte_source.h"

namespace slimgraph::internal {

class BinaryReader {
 public:
  BinaryReader(ByteSource& source, ProgressHook progress)
      : source_(source), progress_(std::move(progress)) {}

  const std::string& name() const { return source_.name(); }
  std::uint64_t offset() const { return offset_; }

  // Fills all of `into`; otherwise an error says that the file ends within its `what`.
  Status Read(MutableBytes into, std::string_view what) {
    SLIM_ASSIGN(const std::size_t got, ReadSome(into));
    if (got == into.size()) return {};
    return InputError("{}: truncated: it ends at byte {}, within its {}", name(), offset_, what);
  }

  Result<std::size_t> ReadSome(MutableBytes into) {
    SLIM_ASSIGN(const std::size_t got, source_.Read(into));
    offset_ += got;
    if (progress_) progress_(source_.position(), source_.total());
    return got;
  }

  template <typename T>
  Result<T> Value(std::string_view what) {
    T value = {};
    SLIM_TRY(Read(std::as_writable_bytes(std::span(&value, 1)), what));
    return value;
  }

  template <typename T>
  Result<std::vector<T>> Values(std::uint64_t count, std::string_view what) {
    constexpr std::uint64_t kStep = 1 << 17;
    std::vector<T> values;
    while (values.size() < count) {
      const std::size_t before = values.size();
      values.resize(before + std::min<std::uint64_t>(kStep, count - before));
      SLIM_TRY(Read(std::as_writable_bytes(std::span(values).subspan(before)), what));
    }
    return values;
  }

  Status ExpectEnd() {
    std::byte more;
    SLIM_ASSIGN(const std::size_t got, ReadSome({&more, 1}));
    if (got == 0) return {};
    return InputError("{}: expected its end at byte {}, found more", name(), offset_ - 1);
  }

 private:
  ByteSource& source_;
  ProgressHook progress_;
  std::uint64_t offset_ = 0;
};

}  // namespace slimgraph::internal
