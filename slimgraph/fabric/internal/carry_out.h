// One operation on memory that this process can reach, as an adapter would do it.
#pragma once

#include <atomic>
#include <cstring>

#include "slimgraph/fabric/operation.h"

namespace slimgraph {

inline Outcome CarryOut(const Operation& operation, std::byte* base, std::uint64_t region_bytes) {
  if (operation.offset > region_bytes || operation.length > region_bytes - operation.offset) {
    return Outcome::kOutOfRange;
  }
  std::byte* const remote = base + operation.offset;
  switch (operation.kind) {
    case OperationKind::kRead:
      if (operation.length > 0) std::memcpy(operation.local, remote, operation.length);
      return Outcome::kOk;
    case OperationKind::kWrite:
      if (operation.length > 0) std::memcpy(remote, operation.local, operation.length);
      return Outcome::kOk;
    default:
      break;
  }
  if (operation.offset % sizeof(std::uint64_t) != 0) return Outcome::kMisaligned;
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(remote));
  std::uint64_t old_value = operation.expected;
  if (operation.kind == OperationKind::kCompareSwap) {
    word.compare_exchange_strong(old_value, operation.operand);
  } else {
    old_value = word.fetch_add(operation.operand);
  }
  if (operation.local != nullptr) std::memcpy(operation.local, &old_value, sizeof old_value);
  return Outcome::kOk;
}

}  // namespace slimgraph
