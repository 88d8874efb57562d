#include "slimgraph/base/folders.h"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "slimgraph/base/files.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {

namespace {

// LockFolder() tries this often, and sleeps between.
constexpr int kLockTries = 50;
constexpr std::chrono::milliseconds kLockPause(20);

// The kind of what is there; 0: nothing.
Result<mode_t> KindOf(const std::string& path) {
  struct stat info;
  if (files::StatOf(path, info) == 0) return info.st_mode & S_IFMT;
  if (errno == ENOENT || errno == ENOTDIR) return mode_t{0};
  return EnvironmentError("{}: cannot be looked up: {}", path, std::strerror(errno));
}

}  // namespace

Result<bool> Exists(const std::string& path) {
  SLIM_ASSIGN(const mode_t kind, KindOf(path));
  return kind != 0;
}

Result<bool> IsFolder(const std::string& path) {
  SLIM_ASSIGN(const mode_t kind, KindOf(path));
  return kind == S_IFDIR;
}

Status CheckWritable(const std::string& folder) {
  if (files::CheckAccess(folder, W_OK | X_OK) == 0) return {};
  return InputError("{}: cannot write: {}", folder, std::strerror(errno));
}

Result<bool> MakeFolder(const std::string& path) {
  if (files::MakeFolder(path, 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return EnvironmentError("{}: the folder cannot be made: {}", path, std::strerror(errno));
}

Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  if (files::List(folder, names) != 0) return InputError("{}: {}", folder, std::strerror(errno));
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  return names;
}

Status Rename(const std::string& from, const std::string& to) {
  if (files::Rename(from, to) == 0) return {};
  return EnvironmentError("{}: cannot get this name: {}", to, std::strerror(errno));
}

Result<bool> RemoveFile(const std::string& path) {
  if (files::Remove(path) == 0) return true;
  if (errno == ENOENT) return false;
  return EnvironmentError("{}: cannot be removed: {}", path, std::strerror(errno));
}

Status RemoveFolder(const std::string& path) {
  if (files::RemoveFolder(path) == 0) return {};
  return EnvironmentError("{}: cannot be removed: {}", path, std::strerror(errno));
}

Result<std::optional<UniqueFd>> LockFolder(const std::string& path, LockKind kind) {
  UniqueFd lock(files::Open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return InputError("{}: {}", path, std::strerror(errno));
  const int operation = (kind == LockKind::kExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  for (int tries = 0; tries < kLockTries; ++tries) {
    if (tries > 0) SleepFor(kLockPause);
    if (files::Lock(lock.get(), operation) == 0) return lock;
    if (errno == EWOULDBLOCK) continue;
    return EnvironmentError("{}: cannot be locked: {}", path, std::strerror(errno));
  }
  return std::nullopt;
}

}  // namespace slimgraph
