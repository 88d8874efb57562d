// Memory that other processes of this machine can map. It has no name: others open it through its
// owner's /proc entry. It is freed when the last process that uses it ends, even if that process
// was killed.
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
  // Maps the memory that another process describes by handle().
  static Result<std::unique_ptr<SharedMemory>> Open(std::string_view handle);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  std::string handle() const;

 private:
  SharedMemory(UniqueFd fd, std::uint64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  Status Map();

  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace slimgraph
