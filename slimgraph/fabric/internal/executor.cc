#include "slimgraph/fabric/internal/executor.h"

#include <atomic>
#include <cstring>

#include "slimgraph/base/check.h"

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
  const bool atomic =
      operation.kind == OperationKind::kCompareSwap || operation.kind == OperationKind::kFetchAdd;
  const std::uint64_t bytes = atomic ? sizeof(std::uint64_t) : operation.bytes;
  if (bytes > region.memory.bytes || operation.offset > region.memory.bytes - bytes) {
    return Outcome::kOutOfRange;
  }
  address = region.memory.base + operation.offset;
  if (atomic && reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0) {
    return Outcome::kMisaligned;
  }
  return Outcome::kOk;
}

std::uint64_t Executor::ApplyAtomic(OperationKind kind, std::byte* address,
                                    const std::byte* operands) {
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(address));
  std::uint64_t operand;
  std::memcpy(&operand, operands, sizeof operand);
  if (kind == OperationKind::kFetchAdd) return word.fetch_add(operand);
  std::uint64_t expected;
  std::memcpy(&expected, operands + sizeof operand, sizeof expected);
  word.compare_exchange_strong(expected, operand);
  return expected;
}

}  // namespace slimgraph
