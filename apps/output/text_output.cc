#include "apps/output/text_output.h"

#include <mutex>
#include <span>

#include "apps/print.h"

namespace slimgraph {

Status CheckOutput(const std::string& path, bool json) {
  if (!json || !IsStandardOutput(path)) return {};
  return UsageError("--json and an output named - both write to standard output: name a file");
}

Result<TextOutput> TextOutput::Create(const std::string& path) {
  TextOutput output;
  if (IsStandardOutput(path)) return output;
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  output.file_.emplace(std::move(file));
  return output;
}

TextOutput::TextOutput(TextOutput&& other) noexcept
    : file_(std::move(other.file_)), end_(other.end_.load()) {}

Status TextOutput::Append(std::string_view text) {
  if (file_) return file_->WriteAt(end_.fetch_add(text.size()), std::as_bytes(std::span(text)));
  const std::lock_guard lock(mutex_);
  return WriteResult(text);
}

Status TextOutput::Commit() { return file_ ? file_->Commit() : Status(); }

}  // namespace slimgraph
