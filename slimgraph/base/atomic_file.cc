#include "slimgraph/base/atomic_file.h"

#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/check.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"
#include "slimgraph/base/random.h"

namespace slimgraph {

std::string PartialNameOf(const std::string& path) {
  std::uint64_t number = 0;
  const Status filled = FillWithRandom(std::as_writable_bytes(std::span(&number, 1)));
  SLIM_CHECK(filled, "{}", filled.error().message);
  return fmt::format("{}.{:016x}.partial", path, number);
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, mode_t mode) {
  struct stat info;
  if (files::StatOf(path, info) == 0 && !S_ISREG(info.st_mode)) {
    return UsageError("{}: cannot write here: it is there already and is not a regular file", path);
  }
  IgnoreFileSizeSignal();
  std::string temporary;
  UniqueFd fd(files::Open(FolderOf(path), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (!fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    // The partial file is in the target's folder, because a rename cannot cross file systems.
    temporary = PartialNameOf(path);
    fd.Reset(files::Open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  }
  if (!fd) return EnvironmentError("{}: cannot write: {}", path, std::strerror(errno));
  return AtomicFile(path, std::move(temporary), std::move(fd));
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) files::Remove(temporary_);
}

Status AtomicFile::WriteAt(std::uint64_t offset, Bytes bytes) {
  return slimgraph::WriteAt(fd_, path_, offset, bytes);
}

std::string AtomicFile::PathToRead() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

Status AtomicFile::GiveTemporaryName() {
  const std::string name = PartialNameOf(path_);
  if (files::Name(fd_.get(), name) != 0) {
    return EnvironmentError("{}: cannot give the file its name: {}", path_, std::strerror(errno));
  }
  temporary_ = name;
  return {};
}

// Renames instead of linking: a link cannot replace an existing file. Steps that may fail come
// before the rename.
Status AtomicFile::Commit(Outlives outlives) {
  const bool durable = outlives == Outlives::kPowerLoss;
  if (durable && files::Sync(fd_.get()) != 0) {
    return EnvironmentError("{}: cannot be made durable: {}", path_, std::strerror(errno));
  }
  if (temporary_.empty()) SLIM_TRY(GiveTemporaryName());
  // Some network file systems report a full disk only on close.
  if (files::Close(fd_.Release()) != 0) {
    return EnvironmentError("{}: cannot write: {}", path_, std::strerror(errno));
  }
  if (files::Rename(temporary_, path_) != 0) {
    return EnvironmentError("{}: cannot give the file its name: {}", path_, std::strerror(errno));
  }
  temporary_.clear();
  return durable ? SyncPath(FolderOf(path_)) : Status();
}

}  // namespace slimgraph
