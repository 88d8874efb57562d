// Registered memory that a device can send from and read into. Data is copied through it, because
// the callers' own memory is not registered. Allocated and released in FIFO order.
#pragma once

#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/verbs/device.h"

namespace slimgraph {

class VerbsRing {
 public:
  static Result<std::unique_ptr<VerbsRing>> Make(const VerbsDevice& device, std::uint64_t bytes);
  ~VerbsRing();
  VerbsRing(const VerbsRing&) = delete;
  VerbsRing& operator=(const VerbsRing&) = delete;

  // Allocates `bytes` contiguous bytes, aligned to 8; returns null when there is no room now. Up to
  // half of the ring is always available once everything is released.
  std::byte* Take(std::uint64_t bytes);

  // The position after the last allocation. Release() frees everything that was allocated before
  // `position`.
  std::uint64_t position() const { return taken_; }
  void Release(std::uint64_t position) { released_ = position; }

  std::uint32_t key() const { return registered_->lkey; }

 private:
  explicit VerbsRing(const RegionMemory& memory) : memory_(memory) {}

  RegionMemory memory_;
  VerbsMemory registered_;
  std::uint64_t taken_ = 0;  // both positions only grow
  std::uint64_t released_ = 0;
};

}  // namespace slimgraph
