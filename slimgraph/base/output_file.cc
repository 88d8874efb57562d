#include "slimgraph/base/output_file.h"

#include <cerrno>
#include <cstring>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"

namespace slimgraph {
namespace {

Status CannotWrite(const std::string& path, int reason) {
  return EnvironmentError("{}: cannot write: {}", path, std::strerror(reason));
}

}  // namespace

Result<OutputFile> OutputFile::Open(std::string path) {
  UniqueFd fd(files::Open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) return tl::unexpected(CannotWrite(path, errno).error());
  return OutputFile(std::move(path), std::move(fd));
}

Result<OutputFile> OutputFile::CreateForAppending(std::string path) {
  UniqueFd fd(files::Open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) return tl::unexpected(CannotWrite(path, errno).error());
  return OutputFile(std::move(path), std::move(fd));
}

Result<std::uint64_t> OutputFile::Size() const { return FileSize(fd_, path_); }

Status OutputFile::Truncate(std::uint64_t bytes) const {
  if (files::Truncate(fd_.get(), static_cast<off_t>(bytes)) == 0) return {};
  return CannotWrite(path_, errno);
}

Status OutputFile::WriteAt(std::uint64_t offset, Bytes bytes) const {
  return slimgraph::WriteAt(fd_, path_, offset, bytes);
}

Status OutputFile::Append(Bytes bytes) const {
  const ssize_t wrote = files::Append(fd_.get(), bytes);
  if (wrote == static_cast<ssize_t>(bytes.size())) return {};
  return CannotWrite(path_, wrote < 0 ? errno : ENOSPC);
}

Status OutputFile::Sync() const {
  if (files::SyncData(fd_.get()) == 0) return {};
  return EnvironmentError("{}: cannot be made durable: {}", path_, std::strerror(errno));
}

}  // namespace slimgraph
