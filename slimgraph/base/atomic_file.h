// An output file that appears whole under its name, or not at all. Until Commit it has no name
// where the file system allows that (O_TMPFILE), so that even a killed process leaves nothing
// behind.
#pragma once

#include <cstdint>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class AtomicFile {
 public:
  // Nothing at `path` changes before Commit, which replaces a file that is there.
  static Result<AtomicFile> Create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status WriteAt(std::uint64_t offset, Bytes bytes);
  // What has been written outlives a loss of power (its name, when its folder has been synced too).
  Status Sync();
  Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, UniqueFd fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}
  Status GiveName();

  std::string path_;
  std::string temporary_;  // its name until Commit; empty: it has none
  UniqueFd fd_;
};

}  // namespace slimgraph
