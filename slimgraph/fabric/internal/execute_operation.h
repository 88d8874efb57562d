// Executes one operation on memory that this process can reach, as an adapter would.
#pragma once

#include <cstring>

#include "slimgraph/base/atomic.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/base/unordered_reads.h"
#include "slimgraph/base/words.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

constexpr bool IsAtomic(OperationKind kind) {
  return kind == OperationKind::kCompareSwap || kind == OperationKind::kFetchAdd;
}

// Checks that the operation is possible in a region of `region_bytes`.
inline Outcome CheckOperation(OperationKind kind, std::uint64_t offset, std::uint64_t length,
                              std::uint64_t region_bytes) {
  if (offset > region_bytes || length > region_bytes - offset) return Outcome::kOutOfRange;
  const bool misaligned = IsAtomic(kind) && offset % sizeof(std::uint64_t) != 0;
  return misaligned ? Outcome::kMisaligned : Outcome::kOk;
}

// Whether each word of the operation is accessed whole. `remote` is the operation's first byte.
inline bool KeepsWordsWhole(const std::byte* remote, std::uint64_t length) {
  return length <= kWholeWordsBytes &&
         (reinterpret_cast<std::uintptr_t>(remote) | length) % sizeof(std::uint64_t) == 0;
}

// The copies of reads and writes. A copy that is not made word by word may be torn if others write
// meanwhile. Such a reader detects this by another word, or finds that it has not got the lock, and
// discards the bytes (txnlayer/protocol/internal/guarded_read.h, mvcc.cc, locking.h).
inline void CopyFromRegion(std::byte* local, const std::byte* remote, std::uint64_t length) {
  if (KeepsWordsWhole(remote, length)) {
    LoadWords(local, remote, length);
  } else {
    Interleave();
    const UnorderedReads reads;
    LoadPlain(local, remote, length);
  }
}
inline void CopyToRegion(std::byte* remote, const std::byte* local, std::uint64_t length) {
  if (KeepsWordsWhole(remote, length)) {
    StoreWords(remote, local, length);
  } else {
    Interleave();
    StorePlain(remote, local, length);
  }
}

// Executes an atomic operation; returns the old value.
inline std::uint64_t ChangeWord(OperationKind kind, std::byte* remote, std::uint64_t operand,
                                std::uint64_t expected) {
  Interleave();
  const SharedWord word = WordAt(remote);
  if (kind == OperationKind::kFetchAdd) return word.fetch_add(operand);
  word.compare_exchange_strong(expected, operand);
  return expected;
}

inline Outcome ExecuteOperation(const Operation& operation, std::byte* base,
                                std::uint64_t region_bytes, bool writable = true) {
  const Outcome check =
      CheckOperation(operation.kind, operation.offset, operation.length, region_bytes);
  if (check != Outcome::kOk) return check;
  if (!writable && operation.kind != OperationKind::kRead) return Outcome::kReadOnly;
  std::byte* const remote = base + operation.offset;
  if (IsAtomic(operation.kind)) {
    const std::uint64_t old_value =
        ChangeWord(operation.kind, remote, operation.operand, operation.expected);
    if (operation.local != nullptr) std::memcpy(operation.local, &old_value, sizeof old_value);
  } else if (operation.length > 0) {
    if (operation.kind == OperationKind::kRead) {
      CopyFromRegion(operation.local, remote, operation.length);
    } else {
      CopyToRegion(remote, operation.local, operation.length);
    }
  }
  return Outcome::kOk;
}

}  // namespace slimgraph
