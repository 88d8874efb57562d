#include "slimgraph/base/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#ifdef SLIMGRAPH_SIM
#include <map>
#endif

namespace slimgraph {

#ifdef SLIMGRAPH_SIM
namespace {

// All nodes of a simulation are in one process, whose threads wait for words by their addresses. So
// a memory is mapped once, for all nodes.
struct Mapping {
  std::byte* base = nullptr;
  int users = 0;
};
std::map<ino_t, Mapping> mappings;

Mapping& MappingOf(int fd) {
  struct stat found {};
  ::fstat(fd, &found);
  return mappings[found.st_ino];
}

// Nodes send each other this name, and the time of a message depends on its length. So the name
// depends neither on the number of the process nor on how many descriptors are open.
std::string NameOf(int fd) { return fmt::format("{:010}", fd); }
int OpenNamed(const std::string& name) {
  int fd = -1;
  std::from_chars(name.data(), name.data() + name.size(), fd);
  return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

}  // namespace
#else
namespace {

std::string NameOf(int fd) { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd); }
int OpenNamed(const std::string& name) { return ::open(name.c_str(), O_RDWR | O_CLOEXEC); }

}  // namespace
#endif

Result<std::unique_ptr<SharedMemory>> SharedMemory::Create(std::uint64_t bytes) {
  SLIM_ASSIGN(UniqueFd fd, NewDescriptor());
  return OfDescriptor(std::move(fd), bytes);
}

Result<UniqueFd> SharedMemory::NewDescriptor() {
  UniqueFd fd(::memfd_create("slimgraph", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return EnvironmentError("cannot make shared memory: {}", std::strerror(errno));
  return fd;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::OfDescriptor(UniqueFd fd, std::uint64_t bytes) {
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
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
  UniqueFd fd(OpenNamed(path));
  if (!fd) {
    return EnvironmentError(
        "cannot open another node's memory, {}: {}; nodes that share memory must run as one user "
        "in one container, else use --transport tcp",
        path, std::strerror(errno));
  }
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), bytes));
  memory->writable_ = seals < 0 || (seals & F_SEAL_FUTURE_WRITE) == 0;
  SLIM_TRY(memory->Map());
  return memory;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::Adopt(UniqueFd fd) {
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) {
    return EnvironmentError("cannot use memory that was passed on: {}", std::strerror(errno));
  }
  const auto bytes = static_cast<std::uint64_t>(found.st_size);
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), bytes));
  memory->writable_ = false;
  SLIM_TRY(memory->Map());
  return memory;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::OfFile(UniqueFd fd, std::uint64_t bytes) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), bytes));
  memory->persistent_ = memory->Map(MAP_SHARED_VALIDATE | MAP_SYNC).has_value();
  if (!memory->persistent_) SLIM_TRY(memory->Map());
  return memory;
}

Status SharedMemory::Seal() {
  constexpr int kSeals = F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (::fcntl(fd_.get(), F_ADD_SEALS, kSeals) == 0) return {};
  return EnvironmentError("cannot seal {} bytes of shared memory: {}", bytes_,
                          std::strerror(errno));
}

Status SharedMemory::Map(int more_flags) {
  if (bytes_ == 0) return {};
#ifdef SLIMGRAPH_SIM
  Mapping& shared = MappingOf(fd_.get());
  if (shared.users++ > 0) {
    base_ = shared.base;
    return {};
  }
#endif
  void* const base = ::mmap(nullptr, bytes_, writable_ ? PROT_READ | PROT_WRITE : PROT_READ,
                            MAP_SHARED | MAP_NORESERVE | more_flags, fd_.get(), 0);
  if (base == MAP_FAILED) {
    return EnvironmentError("cannot map {} bytes of shared memory: {}", bytes_,
                            std::strerror(errno));
  }
  base_ = static_cast<std::byte*>(base);
  // The system may refuse huge pages for shared memory; the memory then uses small ones.
  ::madvise(base, bytes_, MADV_HUGEPAGE);
#ifdef SLIMGRAPH_SIM
  shared.base = base_;
#endif
  return {};
}

SharedMemory::~SharedMemory() {
#ifdef SLIMGRAPH_SIM
  if (base_ != nullptr && --MappingOf(fd_.get()).users > 0) return;
#endif
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

std::string SharedMemory::handle() const { return fmt::format("{}:{}", NameOf(fd_.get()), bytes_); }

}  // namespace slimgraph
