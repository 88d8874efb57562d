// A stream of bytes with a name for error messages: a file, memory, or another stream decompressed.
// Readers take one, so each reads plain and compressed files and, in tests, bytes from memory.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph::internal {

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;

  const std::string& name() const { return name_; }

  // Fills as much of `into` as there is; less than asked for only at the end, then 0.
  virtual Result<std::size_t> Read(MutableBytes into) = 0;

  // How far the underlying file is read, for progress.
  virtual std::uint64_t position() const = 0;
  virtual std::uint64_t total() const = 0;

  // At most this much is left to read, so that a small input needs no large buffer.
  virtual std::uint64_t left() const { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  std::string name_;
};

using ByteSourcePtr = std::unique_ptr<ByteSource>;

// A file; decompressed if its name ends in .gz or .zst.
Result<ByteSourcePtr> OpenSource(const std::string& path);

// `bytes` must outlive the source. The name decides about decompression as for a file.
ByteSourcePtr MemorySource(std::string name, Bytes bytes);

// Without decompression.
Result<ByteSourcePtr> OpenPlainSource(const std::string& path);
ByteSourcePtr PlainMemorySource(std::string name, Bytes bytes);

ByteSourcePtr GzipSource(ByteSourcePtr compressed);
ByteSourcePtr ZstdSource(ByteSourcePtr compressed);

// "a/road.txt.gz" -> "a/road.txt"
std::string WithoutCompressionSuffix(const std::string& path);

}  // namespace slimgraph::internal
