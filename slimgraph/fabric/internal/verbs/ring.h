// Registered memory that a device can send from and read into. Data is copied through it, because
// the callers' own memory is not registered.
#pragma once

#include "slimgraph/fabric/internal/datagrams/send_ring.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/verbs/device.h"

namespace slimgraph {

class VerbsRing : public SendRing {
 public:
  static Result<std::unique_ptr<VerbsRing>> Make(const VerbsDevice& device, std::uint64_t bytes);
  ~VerbsRing() override;

  std::uint32_t key() const { return registered_->lkey; }

 private:
  explicit VerbsRing(const RegionMemory& memory)
      : SendRing({memory.base, memory.bytes}), memory_(memory) {}

  RegionMemory memory_;
  VerbsMemory registered_;
};

}  // namespace slimgraph
