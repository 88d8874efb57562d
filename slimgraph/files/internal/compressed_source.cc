// Decompression by zlib and libzstd. Both formats carry checksums and may consist of several
// members (frames) in a row. A stream that ends within a member is truncated.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "slimgraph/files/internal/byte_source.h"

namespace slimgraph::internal {
namespace {

constexpr std::size_t kInputBytes = 256 << 10;
constexpr std::size_t kOutputLimit = 1 << 30;  // zlib counts in 32 bits

class CompressedSource : public ByteSource {
 public:
  explicit CompressedSource(ByteSourcePtr compressed)
      : ByteSource(compressed->name()), compressed_(std::move(compressed)) {
    input_.resize(std::min<std::uint64_t>(kInputBytes, compressed_->left()) + 1);
  }

  std::uint64_t position() const override { return compressed_->position(); }
  std::uint64_t total() const override { return compressed_->total(); }

  Result<std::size_t> Read(MutableBytes into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      if (used_ == available_) {
        SLIM_ASSIGN(available_, compressed_->Read(input_));
        used_ = 0;
        if (available_ == 0 && between_members_) break;
      }
      const std::size_t room = std::min(into.size() - done, kOutputLimit);
      SLIM_ASSIGN(const std::size_t made, Step(into.subspan(done, room)));
      done += made;
      // At the end of the input, a step can only return bytes that the decoder has buffered.
      if (available_ == 0 && made == 0) {
        return InputError("{}: truncated {} data", name(), format());
      }
    }
    return done;
  }

 protected:
  virtual std::string_view format() const = 0;
  // Consumes some of pending(), advances used_, and returns the number of bytes decompressed.
  virtual Result<std::size_t> Step(MutableBytes into) = 0;

  Bytes pending() const { return Bytes(input_).subspan(used_, available_ - used_); }

  std::size_t used_ = 0;
  bool between_members_ = false;  // the stream may end here

 private:
  ByteSourcePtr compressed_;
  std::vector<std::byte> input_;
  std::size_t available_ = 0;
};

class GzipStream : public CompressedSource {
 public:
  explicit GzipStream(ByteSourcePtr compressed) : CompressedSource(std::move(compressed)) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~GzipStream() override { inflateEnd(&stream_); }

 protected:
  std::string_view format() const override { return "gzip"; }

  Result<std::size_t> Step(MutableBytes into) override {
    if (!ready_) return EnvironmentError("{}: zlib cannot start: out of memory?", name());
    if (between_members_) inflateReset(&stream_);
    const Bytes input = pending();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    used_ += input.size() - stream_.avail_in;
    between_members_ = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return InputError("{}: damaged gzip data: {}", name(),
                        stream_.msg != nullptr ? stream_.msg : "it cannot be inflated");
    }
    return into.size() - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
};

class ZstdStream : public CompressedSource {
 public:
  explicit ZstdStream(ByteSourcePtr compressed)
      : CompressedSource(std::move(compressed)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {}

 protected:
  std::string_view format() const override { return "zstd"; }

  Result<std::size_t> Step(MutableBytes into) override {
    if (stream_ == nullptr)
      return EnvironmentError("{}: zstd cannot start: out of memory?", name());
    const Bytes input = pending();
    ZSTD_inBuffer in = {input.data(), input.size(), 0};
    ZSTD_outBuffer out = {into.data(), into.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(result)) {
      return InputError("{}: damaged zstd data: {}", name(), ZSTD_getErrorName(result));
    }
    used_ += in.pos;
    between_members_ = result == 0;
    return out.pos;
  }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
};

}  // namespace

ByteSourcePtr GzipSource(ByteSourcePtr compressed) {
  return std::make_unique<GzipStream>(std::move(compressed));
}

ByteSourcePtr ZstdSource(ByteSourcePtr compressed) {
  return std::make_unique<ZstdStream>(std::move(compressed));
}

}  // namespace slimgraph::internal
