// The system's calls on files that stay, by which all of base/ reaches them. They return what the
// calls return, and set errno. In a simulation, the files below /sim/N are on the simulated disk of
// node N (sim/disk.h); all others are the system's there too.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph::system_files {

inline int Open(const std::string& path, int flags, mode_t mode = 0) {
  return ::open(path.c_str(), flags, mode);
}
inline int Close(int fd) { return ::close(fd); }

inline ssize_t ReadAt(int fd, MutableBytes into, off_t offset) {
  return ::pread(fd, into.data(), into.size(), offset);
}
inline ssize_t WriteAt(int fd, Bytes bytes, off_t offset) {
  return ::pwrite(fd, bytes.data(), bytes.size(), offset);
}
// At the end, if the file was opened for that.
inline ssize_t Append(int fd, Bytes bytes) { return ::write(fd, bytes.data(), bytes.size()); }
inline int Truncate(int fd, off_t bytes) { return ::ftruncate(fd, bytes); }
inline int Sync(int fd) { return ::fsync(fd); }
inline int SyncData(int fd) { return ::fdatasync(fd); }

inline int StatOf(int fd, struct stat& info) { return ::fstat(fd, &info); }
inline int StatOf(const std::string& path, struct stat& info) {
  return ::stat(path.c_str(), &info);
}
inline int CheckAccess(const std::string& path, int mode) { return ::access(path.c_str(), mode); }
inline int Lock(int fd, int operation) { return ::flock(fd, operation); }
// For reading; null if it fails.
inline void* Map(int fd, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Names a file that was opened without a name (O_TMPFILE).
inline int Name(int unnamed_fd, const std::string& path) {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", unnamed_fd);
  return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
}
inline int Rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str());
}
inline int Remove(const std::string& path) { return ::unlink(path.c_str()); }
inline int MakeFolder(const std::string& path, mode_t mode) { return ::mkdir(path.c_str(), mode); }
inline int RemoveFolder(const std::string& path) { return ::rmdir(path.c_str()); }
// All names in the folder.
inline int List(const std::string& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return -1;
  while (const dirent* const entry = ::readdir(directory.get())) names.emplace_back(entry->d_name);
  return 0;
}

}  // namespace slimgraph::system_files

#ifndef SLIMGRAPH_SIM
namespace slimgraph {
namespace files = system_files;
}
#else
namespace slimgraph::files {

int Open(const std::string& path, int flags, mode_t mode = 0);
int Close(int fd);
ssize_t ReadAt(int fd, MutableBytes into, off_t offset);
ssize_t WriteAt(int fd, Bytes bytes, off_t offset);
ssize_t Append(int fd, Bytes bytes);
int Truncate(int fd, off_t bytes);
int Sync(int fd);
int SyncData(int fd);
int StatOf(int fd, struct stat& info);
int StatOf(const std::string& path, struct stat& info);
int CheckAccess(const std::string& path, int mode);
int Lock(int fd, int operation);
void* Map(int fd, std::size_t bytes);
int Name(int unnamed_fd, const std::string& path);
int Rename(const std::string& from, const std::string& to);
int Remove(const std::string& path);
int MakeFolder(const std::string& path, mode_t mode);
int RemoveFolder(const std::string& path);
int List(const std::string& folder, std::vector<std::string>& names);

}  // namespace slimgraph::files
#endif
