// An output file that appears under its name complete, or not at all. Until Commit the file has no
// name where the file system supports that (O_TMPFILE). Then even a killed process leaves nothing
// behind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// A name beside `path` that nobody can predict, for a file that is renamed to `path` once it is
// complete.
std::string PartialNameOf(const std::string& path);

// What a committed file survives: the end of the process, or also a loss of power.
enum class Outlives { kProcessEnd, kPowerLoss };

class AtomicFile {
 public:
  // Nothing at `path` changes before Commit, which replaces an existing file. `mode`: who may read
  // and write the file, less what the process's umask forbids.
  static Result<AtomicFile> Create(const std::string& path, mode_t mode = 0666);

  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::exchange(other.temporary_, {})),
        fd_(std::move(other.fd_)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status WriteAt(std::uint64_t offset, Bytes bytes);
  // A path by which this process can open the file before Commit.
  std::string PathToRead() const;
  // If Commit fails before the rename, the file that was at `path` is unchanged.
  Status Commit(Outlives outlives = Outlives::kProcessEnd);

 private:
  AtomicFile(std::string path, std::string temporary, UniqueFd fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}
  Status GiveTemporaryName();

  std::string path_;
  std::string temporary_;  // its name until Commit; empty if it has none
  UniqueFd fd_;
};

}  // namespace slimgraph
