#include "slimgraph/files/internal/line_chunks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/units.h"

namespace slimgraph::internal {

Result<bool> LineChunks::NextChunk(LineChunk& chunk) {
  const std::lock_guard lock(mutex_);
  if (peeked_) {
    chunk = *std::exchange(peeked_, std::nullopt);
    if (chunk.begin() < chunk.end()) return true;
  }
  return Fill(chunk);
}

Result<bool> LineChunks::Fill(LineChunk& chunk) {
  std::size_t have = carried_.size();
  std::size_t last_newline_end = 0;
  const std::size_t room = std::min<std::uint64_t>(chunk_bytes_, source_.left()) + 1;
  std::size_t want = std::max(room, 2 * have);
  if (chunk.buffer.size() < want + LineChunk::kPadding) {
    chunk.buffer.resize(want + LineChunk::kPadding);
  }
  std::copy(carried_.begin(), carried_.end(), chunk.buffer.begin());
  carried_.clear();
  while (!at_end_ && last_newline_end == 0) {
    if (have >= kMaxLineBytes) {
      return InputError("{}:{}: expected a line of at most {}", name(), next_line_,
                        FormatBytes(kMaxLineBytes));
    }
    if (have == want) {  // one line fills the buffer
      want *= 2;
      chunk.buffer.resize(want + LineChunk::kPadding);
    }
    char* const at = chunk.buffer.data() + have;
    SLIM_ASSIGN(const std::size_t got,
                source_.Read(std::as_writable_bytes(std::span(at, want - have))));
    at_end_ = got < want - have;
    if (progress_) progress_(source_.position(), source_.total());
    have += got;
    const void* newline = ::memrchr(at, '\n', got);
    if (newline != nullptr) {
      last_newline_end =
          static_cast<std::size_t>(static_cast<const char*>(newline) - chunk.buffer.data()) + 1;
    }
  }
  if (at_end_) {
    if (have > 0 && chunk.buffer[have - 1] != '\n') chunk.buffer[have++] = '\n';
    last_newline_end = have;
  }
  carried_.assign(chunk.buffer.begin() + static_cast<std::ptrdiff_t>(last_newline_end),
                  chunk.buffer.begin() + static_cast<std::ptrdiff_t>(have));
  chunk.skipped = 0;
  chunk.bytes = last_newline_end;
  std::memset(chunk.buffer.data() + chunk.bytes, 0, LineChunk::kPadding);
  chunk.index = next_index_++;
  chunk.first_line = next_line_;
  next_line_ += static_cast<std::uint64_t>(std::count(chunk.begin(), chunk.end(), '\n'));
  return chunk.bytes > 0;
}

Result<std::optional<LineChunks::Line>> LineChunks::PeekLine() {
  if (!peeked_) peeked_.emplace();
  if (peeked_->begin() == peeked_->end()) {
    SLIM_ASSIGN(const bool more, Fill(*peeked_));
    if (!more) return std::nullopt;
  }
  const char* newline = std::find(peeked_->begin(), peeked_->end(), '\n');
  std::string_view text(peeked_->begin(), newline);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{text, peeked_->first_line};
}

void LineChunks::SkipLine() {
  const char* newline = std::find(peeked_->begin(), peeked_->end(), '\n');
  peeked_->skipped = static_cast<std::size_t>(newline + 1 - peeked_->buffer.data());
  ++peeked_->first_line;
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  std::string shown = "\"";
  for (const char c : text.substr(0, kMaxShown)) {
    if (c == '\t') {
      shown += "\\t";
    } else if (c < ' ' || c > '~') {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      shown += c;
    }
  }
  shown += text.size() > kMaxShown ? "…\"" : "\"";
  return shown;
}

}  // namespace slimgraph::internal
