#include "slimgraph/fabric/internal/executor.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/execute_operation.h"

namespace slimgraph {

void Executor::Publish(RegionId id, const RegionMemory& memory) {
  SLIM_CHECK(id < kMaxRegions);
  if (id >= regions_.size()) regions_.resize(id + std::size_t{1});
  regions_[id] = {memory, Outcome::kOk};
}

void Executor::Revoke(RegionId id) {
  if (id < regions_.size()) regions_[id] = {RegionMemory(), Outcome::kRevoked};
}

MutableBytes Executor::region(RegionId id) const {
  if (id >= regions_.size() || regions_[id].state != Outcome::kOk) return {};
  return {regions_[id].memory.base, regions_[id].memory.bytes};
}

Outcome Executor::Locate(const wire::OperationFrame& operation, std::byte*& address) const {
  if (operation.region >= regions_.size()) return Outcome::kNoRegion;
  const Region& region = regions_[operation.region];
  if (region.state != Outcome::kOk) return region.state;
  const std::uint64_t bytes =
      IsAtomic(operation.kind) ? sizeof(std::uint64_t) : std::uint64_t{operation.bytes};
  const Outcome check =
      CheckOperation(operation.kind, operation.offset, bytes, region.memory.bytes);
  if (check == Outcome::kOk && !region.memory.writable && operation.kind != OperationKind::kRead) {
    return Outcome::kReadOnly;
  }
  address = region.memory.base + operation.offset;
  return check;
}

std::uint64_t Executor::ChangeWordBy(OperationKind kind, std::byte* address,
                                     const std::byte* operands) {
  std::uint64_t operand;
  std::uint64_t expected = 0;
  std::memcpy(&operand, operands, sizeof operand);
  if (kind == OperationKind::kCompareSwap) {
    std::memcpy(&expected, operands + sizeof operand, sizeof expected);
  }
  return ChangeWord(kind, address, operand, expected);
}

}  // namespace slimgraph
