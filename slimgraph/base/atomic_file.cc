#include "slimgraph/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "slimgraph/base/file_io.h"

namespace slimgraph {
namespace {

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Beside the target, as a rename cannot cross file systems.
std::string TemporaryName(const std::string& path) {
  return fmt::format("{}.{}.partial", path, ::getpid());
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return UsageError("{}: cannot write here: it is there already and is not a regular file", path);
  }
  FailWritesInsteadOfDying();
  std::string temporary;
  UniqueFd fd(::open(DirectoryOf(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (!fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    temporary = TemporaryName(path);
    fd.Reset(::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  }
  if (!fd) return EnvironmentError("{}: cannot write: {}", path, std::strerror(errno));
  return AtomicFile(path, std::move(temporary), std::move(fd));
}

AtomicFile::~AtomicFile() {
  if (fd_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::WriteAt(std::uint64_t offset, Bytes bytes) {
  return slimgraph::WriteAt(fd_, path_, offset, bytes);
}

Status AtomicFile::Sync() {
  if (::fsync(fd_.get()) == 0) return {};
  return EnvironmentError("{}: cannot be made durable: {}", path_, std::strerror(errno));
}

Status AtomicFile::GiveName() {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", fd_.get());
  const auto link_as = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_as(path_)) return {};
  if (errno == EEXIST) {  // a link cannot replace a file, a rename can
    temporary_ = TemporaryName(path_);
    ::unlink(temporary_.c_str());
    if (link_as(temporary_)) return {};
  }
  temporary_.clear();
  return EnvironmentError("{}: cannot give the file its name: {}", path_, std::strerror(errno));
}

Status AtomicFile::Commit() {
  if (temporary_.empty()) SLIM_TRY(GiveName());
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return EnvironmentError("{}: cannot give the file its name: {}", path_, std::strerror(errno));
  }
  temporary_.clear();
  if (::close(fd_.Release()) != 0) {  // some network file systems tell of a full disk only now
    const int reason = errno;
    ::unlink(path_.c_str());
    return EnvironmentError("{}: cannot write: {}", path_, std::strerror(reason));
  }
  return {};
}

}  // namespace slimgraph
