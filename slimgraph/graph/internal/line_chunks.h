// Cuts a text stream into chunks of whole lines that threads parse independently. Each chunk knows
// its first line's number, so errors name the right line whoever finds them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/graph/internal/byte_source.h"

namespace slimgraph::internal {

// The text ends with '\n', also where the file does not, and kPadding zero bytes can be read behind
// it, so that a parser needs no test for the end within a line.
struct LineChunk {
  static constexpr std::size_t kPadding = 16;

  std::vector<char> buffer;
  std::size_t skipped = 0;  // lines taken off before the chunk was handed out
  std::size_t bytes = 0;
  std::uint64_t index = 0;       // 0, 1, 2, … in the order of the file
  std::uint64_t first_line = 1;  // counted from 1

  const char* begin() const { return buffer.data() + skipped; }
  const char* end() const { return buffer.data() + bytes; }
};

class LineChunks {
 public:
  static constexpr std::size_t kChunkBytes = 1 << 20;
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 30;

  LineChunks(ByteSource& source, ProgressHook progress, std::size_t chunk_bytes = kChunkBytes)
      : source_(source), progress_(std::move(progress)), chunk_bytes_(chunk_bytes) {}

  // The next chunk, from any thread; false at the end of the file. Reuses the chunk's buffer.
  Result<bool> Next(LineChunk& chunk);

  // Only before the first Next: looks at the next line, without its end; nothing at the end of the
  // file. SkipLine takes it off the stream. The text is valid until the next call.
  struct Line {
    std::string_view text;
    std::uint64_t number;
  };
  Result<std::optional<Line>> PeekLine();
  void SkipLine();

  const std::string& name() const { return source_.name(); }
  // Whether the stream has been read to its end. Not while other threads call Next.
  bool at_end() const { return at_end_; }

 private:
  Result<bool> Fill(LineChunk& chunk);

  ByteSource& source_;
  ProgressHook progress_;
  std::size_t chunk_bytes_;
  std::mutex mutex_;
  std::vector<char> carried_;  // the beginning of a line whose end has not been read
  bool at_end_ = false;
  std::optional<LineChunk> peeked_;  // handed out by the first Next
  std::uint64_t next_index_ = 0;
  std::uint64_t next_line_ = 1;
};

// `12 x\0` -> "12 x\0" in quotes, unprintables escaped and long text shortened, for messages.
std::string Quoted(std::string_view text);

}  // namespace slimgraph::internal
