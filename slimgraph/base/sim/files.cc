// files.h, with the simulated disks of sim/disk.h.
#ifdef SLIMGRAPH_SIM
#include "slimgraph/base/files.h"

#include "slimgraph/base/sim/disk.h"

namespace slimgraph::files {
namespace {

using sim::Disks;

// Whether a simulated disk has it.
template <typename File>
bool IsSimulated(const File& file) {
  return Disks::Has(file) && sim::Scheduler::Current() != nullptr;
}

std::uint64_t Unsigned(off_t offset) { return static_cast<std::uint64_t>(offset); }

}  // namespace

int Open(const std::string& path, int flags, mode_t mode) {
  if (IsSimulated(path)) return Disks::Current().Open(path, flags);
  return system_files::Open(path, flags, mode);
}

int Close(int fd) {
  if (IsSimulated(fd)) return Disks::Current().Close(fd);
  return system_files::Close(fd);
}

ssize_t ReadAt(int fd, MutableBytes into, off_t offset) {
  if (IsSimulated(fd)) return Disks::Current().ReadAt(fd, into, Unsigned(offset));
  return system_files::ReadAt(fd, into, offset);
}

ssize_t WriteAt(int fd, Bytes bytes, off_t offset) {
  if (IsSimulated(fd)) return Disks::Current().WriteAt(fd, bytes, Unsigned(offset));
  return system_files::WriteAt(fd, bytes, offset);
}

ssize_t Append(int fd, Bytes bytes) {
  if (IsSimulated(fd)) return Disks::Current().Append(fd, bytes);
  return system_files::Append(fd, bytes);
}

int Truncate(int fd, off_t bytes) {
  if (IsSimulated(fd)) return Disks::Current().Truncate(fd, Unsigned(bytes));
  return system_files::Truncate(fd, bytes);
}

int Sync(int fd) {
  if (IsSimulated(fd)) return Disks::Current().Sync(fd);
  return system_files::Sync(fd);
}

int SyncData(int fd) {
  if (IsSimulated(fd)) return Disks::Current().Sync(fd);
  return system_files::SyncData(fd);
}

int StatOf(int fd, struct stat& info) {
  if (IsSimulated(fd)) return Disks::Current().StatOf(fd, info);
  return system_files::StatOf(fd, info);
}

int StatOf(const std::string& path, struct stat& info) {
  if (IsSimulated(path)) return Disks::Current().StatOf(path, info);
  return system_files::StatOf(path, info);
}

int CheckAccess(const std::string& path, int mode) {
  struct stat info;
  if (IsSimulated(path)) return Disks::Current().StatOf(path, info);
  return system_files::CheckAccess(path, mode);
}

int Lock(int fd, int operation) {
  if (IsSimulated(fd)) return Disks::Current().Lock(fd, operation);
  return system_files::Lock(fd, operation);
}

void* Map(int fd, std::size_t bytes) {
  if (IsSimulated(fd)) return Disks::Current().Map(fd, bytes);
  return system_files::Map(fd, bytes);
}

int Name(int unnamed_fd, const std::string& path) {
  if (IsSimulated(unnamed_fd)) return Disks::Current().Name(unnamed_fd, path);
  return system_files::Name(unnamed_fd, path);
}

int Rename(const std::string& from, const std::string& to) {
  if (IsSimulated(from)) return Disks::Current().Rename(from, to);
  return system_files::Rename(from, to);
}

int Remove(const std::string& path) {
  if (IsSimulated(path)) return Disks::Current().Remove(path);
  return system_files::Remove(path);
}

int MakeFolder(const std::string& path, mode_t mode) {
  if (IsSimulated(path)) return Disks::Current().MakeFolder(path);
  return system_files::MakeFolder(path, mode);
}

int RemoveFolder(const std::string& path) {
  if (IsSimulated(path)) return Disks::Current().RemoveFolder(path);
  return system_files::RemoveFolder(path);
}

int List(const std::string& folder, std::vector<std::string>& names) {
  if (IsSimulated(folder)) return Disks::Current().List(folder, names);
  return system_files::List(folder, names);
}

}  // namespace slimgraph::files
#endif
