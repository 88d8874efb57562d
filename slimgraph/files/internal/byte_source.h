// A stream of bytes with a name for error messages: a file, memory, or the decompressed bytes of
// another stream. So each reader reads plain and compressed files and, in tests, memory.
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

  // Fills `into`. Returns less than its size only at the end of the stream, and from then on 0.
  virtual Result<std::size_t> Read(MutableBytes into) = 0;

  // The position in the underlying file and its size, for progress.
  virtual std::uint64_t position() const = 0;
  virtual std::uint64_t total() const = 0;

  // An upper bound on the bytes left to read, so that a small input needs no large buffer.
  virtual std::uint64_t left() const { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  std::string name_;
};

using ByteSourcePtr = std::unique_ptr<ByteSource>;

// How to tell whether a file is compressed. kByName: its name ends in .gz or .zst. kByContents: it
// begins like gzip or zstd data, whatever its name; if not, its name tells. A text never begins so,
// but the numbers of a binary format may.
enum class TellCompression { kByName, kByContents };

// Opens a file, and decompresses it if it is compressed.
Result<ByteSourcePtr> OpenSource(const std::string& path,
                                 TellCompression tell = TellCompression::kByContents);

// Reads `bytes`, which must outlive the source. Decompresses them if `name` ends in .gz or .zst.
ByteSourcePtr MemorySource(std::string name, Bytes bytes);

// Without decompression.
Result<ByteSourcePtr> OpenPlainSource(const std::string& path);
ByteSourcePtr PlainMemorySource(std::string name, Bytes bytes);

ByteSourcePtr GzipSource(ByteSourcePtr compressed);
ByteSourcePtr ZstdSource(ByteSourcePtr compressed);

// "a/road.txt.gz" -> "a/road.txt"
std::string WithoutCompressionSuffix(const std::string& path);

}  // namespace slimgraph::internal
