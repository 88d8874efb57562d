// One operation on memory that this process can reach, as an adapter would do it.
#pragma once

#include <atomic>
#include <cstring>

#include "slimgraph/fabric/operation.h"

namespace slimgraph {

constexpr bool IsAtomic(OperationKind kind) {
  return kind == OperationKind::kCompareSwap || kind == OperationKind::kFetchAdd;
}

// Whether a region of `region_bytes` can serve it.
inline Outcome CheckOperation(OperationKind kind, std::uint64_t offset, std::uint64_t length,
                              std::uint64_t region_bytes) {
  if (offset > region_bytes || length > region_bytes - offset) return Outcome::kOutOfRange;
  const bool misaligned = IsAtomic(kind) && offset % sizeof(std::uint64_t) != 0;
  return misaligned ? Outcome::kMisaligned : Outcome::kOk;
}

// An atomic operation; the old value.
inline std::uint64_t ChangeWord(OperationKind kind, std::byte* remote, std::uint64_t operand,
                                std::uint64_t expected) {
  const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(remote));
  if (kind == OperationKind::kFetchAdd) return word.fetch_add(operand);
  word.compare_exchange_strong(expected, operand);
  return expected;
}

inline Outcome CarryOut(const Operation& operation, std::byte* base, std::uint64_t region_bytes) {
  const Outcome check =
      CheckOperation(operation.kind, operation.offset, operation.length, region_bytes);
  if (check != Outcome::kOk) return check;
  std::byte* const remote = base + operation.offset;
  if (IsAtomic(operation.kind)) {
    const std::uint64_t old_value =
        ChangeWord(operation.kind, remote, operation.operand, operation.expected);
    if (operation.local != nullptr) std::memcpy(operation.local, &old_value, sizeof old_value);
  } else if (operation.length > 0) {
    const bool read = operation.kind == OperationKind::kRead;
    std::memcpy(read ? operation.local : remote, read ? remote : operation.local, operation.length);
  }
  return Outcome::kOk;
}

}  // namespace slimgraph
