// Where a command writes text that a user wants to keep: a file that appears when it is complete,
// or standard output if its name is "-".
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

inline bool IsStandardOutput(std::string_view path) { return path == "-"; }

// An error if both the output and the JSON object would go to standard output.
Status CheckOutput(const std::string& path, bool json);

class TextOutput {
 public:
  // Collective over nothing: called on the node that writes.
  static Result<TextOutput> Create(const std::string& path);

  TextOutput(TextOutput&& other) noexcept;
  TextOutput& operator=(TextOutput&&) = delete;

  // Thread-safe: each text stays whole.
  Status Append(std::string_view text);
  // Gives the file its name.
  Status Commit();

 private:
  TextOutput() = default;

  std::optional<AtomicFile> file_;      // nothing: standard output
  std::atomic<std::uint64_t> end_ = 0;  // of the file
  Mutex mutex_;                         // of standard output
};

}  // namespace slimgraph
