#include "slimgraph/base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace slimgraph {

Result<std::unique_ptr<SharedMemory>> SharedMemory::Create(std::uint64_t bytes) {
  UniqueFd fd(::memfd_create("slimgraph", MFD_CLOEXEC));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return EnvironmentError("cannot make {} bytes of shared memory: {}", bytes,
                            std::strerror(errno));
  }
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), bytes));
  SLIM_TRY(memory->Map());
  return memory;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::Open(std::string_view handle) {
  const std::size_t colon = handle.rfind(':');
  std::uint64_t bytes = 0;
  if (colon == std::string_view::npos) return EnvironmentError("'{}' names no memory", handle);
  std::from_chars(handle.data() + colon + 1, handle.data() + handle.size(), bytes);
  const std::string path(handle.substr(0, colon));
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {
    return EnvironmentError(
        "cannot open another node's memory, {}: {}; nodes that share memory must run as one user "
        "in one container, else use --transport tcp",
        path, std::strerror(errno));
  }
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), bytes));
  SLIM_TRY(memory->Map());
  return memory;
}

Status SharedMemory::Map() {
  if (bytes_ == 0) return {};
  void* const base =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
  if (base == MAP_FAILED) {
    return EnvironmentError("cannot map {} bytes of shared memory: {}", bytes_,
                            std::strerror(errno));
  }
  base_ = static_cast<std::byte*>(base);
  // The system may refuse huge pages for shared memory; the memory then uses small ones.
  ::madvise(base, bytes_, MADV_HUGEPAGE);
  return {};
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

std::string SharedMemory::handle() const {
  return fmt::format("/proc/{}/fd/{}:{}", ::getpid(), fd_.get(), bytes_);
}

}  // namespace slimgraph
