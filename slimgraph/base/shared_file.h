// A file as memory that other processes of this machine can map and write to.
#pragma once

#include <memory>
#include <string>

#include "slimgraph/base/output_file.h"
#include "slimgraph/base/shared_memory.h"

namespace slimgraph {

class SharedFile {
 public:
  // Makes the file anew, full of zeros, and its name durable. The disk has room for all of it.
  static Result<std::shared_ptr<SharedFile>> Create(const std::string& path, std::uint64_t bytes);

  const std::string& path() const { return file_.path(); }
  SharedMemory& memory() const { return *memory_; }
  MutableBytes bytes() const { return {memory_->base(), memory_->bytes()}; }
  // Whether it is on persistent memory: writes need no Sync() once they have left the processor's
  // caches.
  bool persistent() const { return memory_->persistent(); }
  // What was written by then, by any process, survives a loss of power after this returns. Parts of
  // what is written may also reach the disk without it, in any order.
  Status Sync() const;

 private:
  SharedFile(OutputFile file, std::unique_ptr<SharedMemory> memory)
      : file_(std::move(file)), memory_(std::move(memory)) {}

  OutputFile file_;
  std::unique_ptr<SharedMemory> memory_;
};

}  // namespace slimgraph
