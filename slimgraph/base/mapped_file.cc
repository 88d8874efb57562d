#include "slimgraph/base/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/files.h"

namespace slimgraph {

Result<MappedFile> MappedFile::Open(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  if (bytes == 0) return MappedFile();
  void* const memory = files::Map(fd.get(), bytes);
  if (memory == nullptr) {
    return EnvironmentError("{}: cannot be mapped: {}", path, std::strerror(errno));
  }
  return MappedFile(Bytes(static_cast<const std::byte*>(memory), bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace slimgraph
