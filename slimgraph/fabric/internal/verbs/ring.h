// Memory that a device can send from and read into: what travels is copied through it, for the
// callers' own memory is not registered. Taken and released in order.
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

  // That many bytes in a row, aligned to 8; null when there is no room now. What is at most half
  // of the ring has room once all is released.
  std::byte* Take(std::uint64_t bytes);

  // Where the next Take() begins. Release: all that was taken before `position` is free again.
  std::uint64_t position() const { return taken_; }
  void Release(std::uint64_t position) { released_ = position; }

  std::uint32_t key() const { return registered_->lkey; }

 private:
  explicit VerbsRing(const RegionMemory& memory) : memory_(memory) {}

  RegionMemory memory_;
  VerbsMemory registered_;
  std::uint64_t taken_ = 0;  // both only grow
  std::uint64_t released_ = 0;
};

}  // namespace slimgraph
