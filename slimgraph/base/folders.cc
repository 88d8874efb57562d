#include "slimgraph/base/folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace slimgraph {

bool Exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Status CheckWritable(const std::string& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return InputError("{}: cannot write: {}", folder, std::strerror(errno));
}

Result<bool> MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return EnvironmentError("{}: the folder cannot be made: {}", path, std::strerror(errno));
}

Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return InputError("{}: {}", folder, std::strerror(errno));
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(directory.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  return names;
}

Status Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return EnvironmentError("{}: cannot get this name: {}", to, std::strerror(errno));
}

Result<bool> RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return EnvironmentError("{}: cannot be removed: {}", path, std::strerror(errno));
}

Status RemoveFolder(const std::string& path) {
  if (::rmdir(path.c_str()) == 0) return {};
  return EnvironmentError("{}: cannot be removed: {}", path, std::strerror(errno));
}

Result<std::optional<UniqueFd>> LockFolder(const std::string& path, LockKind kind) {
  UniqueFd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return InputError("{}: {}", path, std::strerror(errno));
  const int operation = (kind == LockKind::kExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  if (::flock(lock.get(), operation) == 0) return lock;
  if (errno == EWOULDBLOCK) return std::nullopt;
  return EnvironmentError("{}: cannot be locked: {}", path, std::strerror(errno));
}

}  // namespace slimgraph
