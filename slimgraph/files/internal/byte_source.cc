#include "slimgraph/files/internal/byte_source.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "slimgraph/base/file_io.h"

namespace slimgraph::internal {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(const std::string& path, UniqueFd fd, std::uint64_t bytes)
      : ByteSource(path), fd_(std::move(fd)), bytes_(bytes) {}

  // The file must keep the size that it had when it was opened. A file that grows or shrinks is
  // still being written, and an incomplete graph would be read.
  Result<std::size_t> Read(MutableBytes into) override {
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd_, name(), position_, into));
    position_ += got;
    if (got < into.size() || position_ > bytes_) {
      SLIM_ASSIGN(const std::uint64_t bytes_now, FileSize(fd_, name()));
      if (position_ != bytes_ || bytes_now != bytes_) {
        return EnvironmentError("{}: the file changed size while it was read: from {} bytes to {}",
                                name(), bytes_, bytes_now);
      }
    }
    return got;
  }

  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return bytes_; }
  std::uint64_t left() const override { return bytes_ - position_; }

 private:
  UniqueFd fd_;
  std::uint64_t bytes_;
  std::uint64_t position_ = 0;
};

class BytesSource : public ByteSource {
 public:
  BytesSource(std::string name, Bytes bytes) : ByteSource(std::move(name)), bytes_(bytes) {}

  Result<std::size_t> Read(MutableBytes into) override {
    const std::size_t part = std::min(into.size(), bytes_.size() - position_);
    if (part > 0) std::memcpy(into.data(), bytes_.data() + position_, part);
    position_ += part;
    return part;
  }

  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return bytes_.size(); }
  std::uint64_t left() const override { return bytes_.size() - position_; }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
};

enum class Compression { kNone, kGzip, kZstd };

Compression NamedCompression(const std::string& name) {
  if (name.ends_with(".gz")) return Compression::kGzip;
  if (name.ends_with(".zst")) return Compression::kZstd;
  return Compression::kNone;
}

// What the first bytes say, or else the name.
Compression FoundCompression(Bytes first, const std::string& name) {
  constexpr std::array kGzipMagic = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  constexpr std::array kZstdMagic = {std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                                     std::byte{0xfd}};
  const auto begins_with = [first](Bytes magic) {
    return first.size() >= magic.size() && std::equal(magic.begin(), magic.end(), first.begin());
  };
  if (begins_with(kGzipMagic)) return Compression::kGzip;
  if (begins_with(kZstdMagic)) return Compression::kZstd;
  return NamedCompression(name);
}

ByteSourcePtr Decompressed(ByteSourcePtr plain, Compression compression) {
  if (compression == Compression::kGzip) return GzipSource(std::move(plain));
  if (compression == Compression::kZstd) return ZstdSource(std::move(plain));
  return plain;
}

}  // namespace

Result<ByteSourcePtr> OpenPlainSource(const std::string& path) {
  SLIM_ASSIGN(UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  return std::make_unique<FileSource>(path, std::move(fd), bytes);
}

ByteSourcePtr PlainMemorySource(std::string name, Bytes bytes) {
  return std::make_unique<BytesSource>(std::move(name), bytes);
}

Result<ByteSourcePtr> OpenSource(const std::string& path, TellCompression tell) {
  SLIM_ASSIGN(UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  Compression compression = NamedCompression(path);
  if (tell == TellCompression::kByContents) {
    std::array<std::byte, 4> first{};
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd, path, 0, first));
    compression = FoundCompression(Bytes(first).first(got), path);
  }
  return Decompressed(std::make_unique<FileSource>(path, std::move(fd), bytes), compression);
}

ByteSourcePtr MemorySource(std::string name, Bytes bytes) {
  const Compression compression = NamedCompression(name);
  return Decompressed(PlainMemorySource(std::move(name), bytes), compression);
}

std::string WithoutCompressionSuffix(const std::string& path) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

}  // namespace slimgraph::internal
