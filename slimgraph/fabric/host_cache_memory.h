// The memory of a host's cache: copies of blocks of memories that stand on the nodes of a pool, the
// lenders, and which blocks are there. The process that fills it maps it for writing, and all
// others only for reading (host_cache.h). The lenders have equally many memories.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// A part of a memory of one lender, in blocks.
struct BlockRange {
  std::uint64_t first = 0;
  std::uint32_t blocks = 0;
  std::uint32_t memory = 0;
};

class HostCacheMemory {
 public:
  static constexpr std::uint64_t kBlockBytes = 512;

  // Empty. `sizes`: the bytes of each memory, by lender and memory.
  static Result<std::unique_ptr<HostCacheMemory>> Make(
      const std::vector<std::vector<std::uint64_t>>& sizes);
  // The memory that another process has made.
  static Result<std::unique_ptr<HostCacheMemory>> Adopt(UniqueFd fd);

  int fd() const { return shared_->fd(); }
  std::size_t lenders() const { return lenders_; }
  std::size_t memories() const { return memories_; }
  std::uint64_t bytes(std::size_t lender, std::size_t memory) const {
    return Find(lender, memory).bytes;
  }

  // The blocks that have the bytes from `offset` on. `length` is not 0.
  static BlockRange BlocksOf(std::size_t memory, std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t first = offset / kBlockBytes;
    const std::uint64_t last = (offset + length - 1) / kBlockBytes;
    return {first, static_cast<std::uint32_t>(last - first + 1),
            static_cast<std::uint32_t>(memory)};
  }

  // Whether the whole range is there. It stays there.
  bool Has(std::size_t lender, const BlockRange& range) const;
  // Where the bytes from `offset` on are, if their blocks are there.
  const std::byte* At(std::size_t lender, std::size_t memory, std::uint64_t offset) const {
    return Find(lender, memory).data + offset;
  }
  // No more blocks will come.
  bool full() const { return header().full.load(std::memory_order_relaxed) != 0; }

  // Only for the process that has made it. Where to write the range, before Publish(); the end of
  // the last block of a memory is cut off.
  MutableBytes Space(std::size_t lender, const BlockRange& range) const;
  // From now on Has(range) is true.
  void Publish(std::size_t lender, const BlockRange& range);
  void SetFull() { header().full.store(1, std::memory_order_relaxed); }

 private:
  struct Header {
    std::uint64_t magic;
    std::uint64_t lenders;
    std::uint64_t memories;
    std::atomic<std::uint64_t> full;
    // The sizes follow, then for each memory a bit for each block, then its bytes.
  };
  struct Memory {
    std::uint64_t bytes = 0;
    std::atomic<std::uint64_t>* there = nullptr;  // by block
    std::byte* data = nullptr;
  };
  explicit HostCacheMemory(std::unique_ptr<SharedMemory> shared) : shared_(std::move(shared)) {}
  // Finds the memories. Returns how many bytes they take in all.
  std::uint64_t LayOut(std::size_t lenders, std::size_t memories,
                       std::span<const std::uint64_t> sizes, std::byte* base);
  Header& header() const { return *reinterpret_cast<Header*>(shared_->base()); }
  const Memory& Find(std::size_t lender, std::size_t memory) const {
    return all_[lender * memories_ + memory];
  }

  std::unique_ptr<SharedMemory> shared_;
  std::size_t lenders_ = 0;
  std::size_t memories_ = 0;
  std::vector<Memory> all_;
};

}  // namespace slimgraph
