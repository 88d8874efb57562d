#include "slimgraph/fabric/internal/verbs/ring.h"

namespace slimgraph {

Result<std::unique_ptr<VerbsRing>> VerbsRing::Make(const VerbsDevice& device, std::uint64_t bytes) {
  SLIM_ASSIGN(const RegionMemory memory, AllocatePages(bytes));
  std::unique_ptr<VerbsRing> ring(new VerbsRing(memory));
  SLIM_ASSIGN(ring->registered_, device.Register({memory.base, bytes}, IBV_ACCESS_LOCAL_WRITE));
  return ring;
}

VerbsRing::~VerbsRing() {
  registered_.reset();
  FreePages(memory_);
}

std::byte* VerbsRing::Take(std::uint64_t bytes) {
  // An empty ring restarts at its beginning, because recently used memory is in the caches.
  if (taken_ == released_) {
    taken_ = released_ = (taken_ + memory_.bytes - 1) / memory_.bytes * memory_.bytes;
  }
  const std::uint64_t needed = (bytes + 7) / 8 * 8;
  const std::uint64_t at = taken_ % memory_.bytes;
  const std::uint64_t skipped = at + needed <= memory_.bytes ? 0 : memory_.bytes - at;
  if (taken_ - released_ + skipped + needed > memory_.bytes) return nullptr;
  std::byte* const place = memory_.base + (skipped == 0 ? at : 0);
  taken_ += skipped + needed;
  return place;
}

}  // namespace slimgraph
