// Memory that other processes of this machine can map. It has no name: others open it through its
// owner's /proc entry, or inherit its descriptor. It is freed when the last process that uses it
// ends, even if that process was killed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class SharedMemory {
 public:
  // Zeroed; in huge pages if the system allows.
  static Result<std::unique_ptr<SharedMemory>> Create(std::uint64_t bytes);
  // The descriptor of a memory without bytes, and a memory behind such a descriptor. What was in
  // the first `bytes` bytes before stays there.
  static Result<UniqueFd> NewDescriptor();
  static Result<std::unique_ptr<SharedMemory>> OfDescriptor(UniqueFd fd, std::uint64_t bytes);
  // Maps the memory that another process describes by handle(). Sealed memory is only readable.
  static Result<std::unique_ptr<SharedMemory>> Open(std::string_view handle);
  // Maps the memory behind a descriptor that this process has got, only for reading.
  static Result<std::unique_ptr<SharedMemory>> Adopt(UniqueFd fd);
  // Maps a file for writing. Where the system can, what is written there survives a loss of power
  // once it has left the processor's caches (MAP_SYNC, on persistent memory): persistent().
  static Result<std::unique_ptr<SharedMemory>> OfFile(UniqueFd fd, std::uint64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  bool persistent() const { return persistent_; }
  int fd() const { return fd_.get(); }
  std::string handle() const;

  // From now on nobody can map this memory for writing, nor change its size. Mappings that exist
  // stay as they are.
  Status Seal();

 private:
  SharedMemory(UniqueFd fd, std::uint64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  Status Map(int more_flags = 0);

  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::byte* base_ = nullptr;
  bool writable_ = true;
  bool persistent_ = false;
};

}  // namespace slimgraph
