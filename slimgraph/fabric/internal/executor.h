// Executes other nodes' operations on this node's regions. Owned by a transport's service thread,
// which also calls Publish() and Revoke(), so no operation runs during those calls.
#pragma once

#include <vector>

#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class Executor {
 public:
  void Publish(RegionId id, const RegionMemory& memory);
  void Revoke(RegionId id);

  // Empty if the region is not published.
  MutableBytes region(RegionId id) const;

  // Whether the operation is possible; if so, `address` is set to its first byte.
  Outcome Locate(const wire::OperationFrame& operation, std::byte*& address) const;

  // `operands` has the operands of the request: for a fetch-and-add the number to add; for a
  // compare-and-swap the value to store, then the value to compare with. Returns the old value.
  // Atomic with the atomics of this node's own threads.
  static std::uint64_t ChangeWordBy(OperationKind kind, std::byte* address,
                                    const std::byte* operands);

 private:
  struct Region {
    RegionMemory memory;
    Outcome state = Outcome::kNoRegion;  // kOk while published
  };
  std::vector<Region> regions_;
};

}  // namespace slimgraph
