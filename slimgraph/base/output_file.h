// A file that stays open for writing. AtomicFile is for files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class OutputFile {
 public:
  // Creates the file if it does not exist, and keeps its contents.
  static Result<OutputFile> Open(std::string path);
  // Creates the file, or empties it. Only Append may write to it.
  static Result<OutputFile> CreateForAppending(std::string path);

  const std::string& path() const { return path_; }

  Result<std::uint64_t> Size() const;
  Status Truncate(std::uint64_t bytes) const;
  Status WriteAt(std::uint64_t offset, Bytes bytes) const;
  // Writes at the end of the file with one call, so what several threads append does not mix. Fails
  // if the system takes only a part of the bytes.
  Status Append(Bytes bytes) const;
  // What was written survives a power loss after this returns.
  Status Sync() const;

 private:
  OutputFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

}  // namespace slimgraph
