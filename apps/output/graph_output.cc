#include "apps/output/graph_output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/output/text_output.h"
#include "apps/print.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/folders.h"

namespace slimgraph {

Result<GraphOutput> GraphOutput::Create(const std::string& path, bool json) {
  GraphOutput output;
  output.path_ = path;
  if (!IsStandardOutput(path)) return output;
  SLIM_TRY(CheckOutput(path, json));
  if (::isatty(STDOUT_FILENO) != 0) {
    return UsageError(
        "a .slim file is no text for a terminal: name a file, or redirect the output");
  }
  const char* const temporary = std::getenv("TMPDIR");
  const std::string folder =
      PartialNameOf(std::string(temporary == nullptr ? "/tmp" : temporary) + "/slimgraph-output");
  SLIM_ASSIGN(const bool is_new, MakeFolder(folder));
  if (!is_new) return EnvironmentError("{}: it is there already", folder);
  output.folder_ = folder;
  output.path_ = folder + "/graph.slim";
  return output;
}

GraphOutput::GraphOutput(GraphOutput&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, {})) {}

GraphOutput::~GraphOutput() {
  if (folder_.empty()) return;
  static_cast<void>(RemoveFile(path_));
  static_cast<void>(RemoveFolder(folder_));
}

Status GraphOutput::Finish() const {
  if (folder_.empty()) return {};
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path_));
  std::vector<std::byte> block(1 << 20);
  for (std::uint64_t at = 0;;) {
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd, path_, at, block));
    if (got == 0) return {};
    SLIM_TRY(WriteResult({reinterpret_cast<const char*>(block.data()), got}));
    at += got;
  }
}

int PrintAbout(const GraphOutput& output, const std::string& text) {
  if (!output.is_standard_output()) return Print(text);
  std::fputs(text.c_str(), stderr);
  return 0;
}

}  // namespace slimgraph
