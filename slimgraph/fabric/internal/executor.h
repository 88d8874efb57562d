// Carries out other nodes' operations on this node's regions. Owned by a transport's service
// thread, which runs Publish() and Revoke() as well: between two calls nothing is under way.
#pragma once

#include <vector>

#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class Executor {
 public:
  void Publish(RegionId id, const RegionMemory& memory);
  void Revoke(RegionId id);

  // Empty for a region that is not published.
  MutableBytes region(RegionId id) const;

  // Whether the operation can be carried out; if so, `address` is where its bytes lie.
  Outcome Locate(const wire::OperationFrame& operation, std::byte*& address) const;

  // `operands` are those of the request: what to add; or what to store, and what to compare with.
  // Returns the old value. Atomic with this node's own threads.
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
