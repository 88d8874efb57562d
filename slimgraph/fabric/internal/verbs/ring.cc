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

}  // namespace slimgraph
