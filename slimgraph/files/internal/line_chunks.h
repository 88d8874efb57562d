// Cuts a text stream into chunks of whole lines that threads parse independently. Each chunk knows
// the number of its first line, so any thread can name the line of an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/internal/byte_source.h"

namespace slimgraph::internal {

// The text always ends with '\n', even if the file does not. kPadding readable zero bytes follow
// it, so that a parser needs no test for the end within a line.
struct LineChunk {
  static constexpr std::size_t kPadding = 16;

  std::vector<char> buffer;
  std::size_t skipped = 0;  // bytes of the lines that SkipLine removed from the front
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

  // Gets the next chunk; false at the end of the file. Reuses the chunk's buffer. Any thread may
  // call it.
  Result<bool> NextChunk(LineChunk& chunk);

  // The next line without its line end, or nothing at the end of the file. SkipLine removes that
  // line from the stream. The text is valid until the next call. Call both only before the first
  // NextChunk.
  struct Line {
    std::string_view text;
    std::uint64_t number;
  };
  Result<std::optional<Line>> PeekLine();
  void SkipLine();

  const std::string& name() const { return source_.name(); }
  // Whether the stream has been read to its end. Do not call it while other threads call NextChunk.
  bool at_end() const { return at_end_; }

 private:
  Result<bool> Fill(LineChunk& chunk);

  ByteSource& source_;
  ProgressHook progress_;
  std::size_t chunk_bytes_;
  Mutex mutex_;
  std::vector<char> carried_;  // the beginning of a line whose end is not read yet
  bool at_end_ = false;
  std::optional<LineChunk> peeked_;  // the first NextChunk returns it
  std::uint64_t next_index_ = 0;
  std::uint64_t next_line_ = 1;
};

// `text` for messages: in quotes, shortened if it is long, and with unprintable bytes escaped.
std::string Quoted(std::string_view text);

}  // namespace slimgraph::internal
