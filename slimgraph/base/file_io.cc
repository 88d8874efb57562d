#include "slimgraph/base/file_io.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "slimgraph/base/files.h"

namespace slimgraph {

void IgnoreFileSizeSignal() {
  struct sigaction action;
  if (::sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
    std::signal(SIGXFSZ, SIG_IGN);
  }
}

Result<UniqueFd> OpenForReading(const std::string& path) {
  UniqueFd fd(files::Open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) {
    const int reason = errno;
    if (reason == ENOENT) return InputError("{}: there is no such file", path);
    return EnvironmentError("{}: cannot open: {}", path, std::strerror(reason));
  }
  return fd;
}

Result<std::uint64_t> FileSize(const UniqueFd& fd, const std::string& path) {
  struct stat info;
  if (files::StatOf(fd.get(), info) != 0) {
    return EnvironmentError("{}: cannot tell its size: {}", path, std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return InputError("{}: expected a regular file", path);
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::size_t> ReadAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset,
                           MutableBytes into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        files::ReadAt(fd.get(), into.subspan(done), static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return EnvironmentError("{}: cannot read: {}", path, std::strerror(errno));
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status ReadExactlyAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset,
                     MutableBytes into) {
  SLIM_ASSIGN(const std::size_t got, ReadAt(fd, path, offset, into));
  if (got < into.size()) {
    SLIM_ASSIGN(const std::uint64_t bytes_now, FileSize(fd, path));
    return EnvironmentError("{}: the file shrank while it was read: it has {} bytes now", path,
                            bytes_now);
  }
  return {};
}

Status SyncPath(const std::string& path) {
  const UniqueFd fd(files::Open(path, O_RDONLY | O_CLOEXEC));
  if (fd && files::Sync(fd.get()) == 0) return {};
  return EnvironmentError("{}: cannot be made durable: {}", path, std::strerror(errno));
}

std::string FolderOf(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return path.empty() ? "." : "/";
  const std::size_t slash = path.rfind('/', last);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status WriteAt(const UniqueFd& fd, const std::string& path, std::uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = files::WriteAt(fd.get(), bytes, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      return EnvironmentError("{}: cannot write at byte {}: {}", path, offset,
                              wrote == 0 ? "nothing was taken" : std::strerror(errno));
    }
    offset += static_cast<std::uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

}  // namespace slimgraph
