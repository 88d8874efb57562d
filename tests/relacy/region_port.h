// What the stages of protocols need of a port (stages/port.h), over a region in memory.
#pragma once

#include <cstdint>

#include "slimgraph/fabric/internal/execute_operation.h"
#include "tests/relacy/checker.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// Executes operations on a region at once, as the shared-memory transport does. An access is of any
// type that has an `offset`.
class RegionPort {
 public:
  // In which order the words of a read or a write are accessed. The fabric promises none
  // (endpoint.h), so checks run with both.
  static inline bool descending = false;

  RegionPort(std::byte* region, std::uint64_t bytes) : region_(region), bytes_(bytes) {}

  template <typename Access>
  void Read(const Access& access, std::uint64_t at, std::uint64_t bytes, void* into) {
    Copy(OperationKind::kRead, access.offset + at, bytes, static_cast<std::byte*>(into));
  }
  template <typename Access>
  void Write(const Access& access, std::uint64_t at, std::uint64_t bytes, const void* from) {
    Copy(OperationKind::kWrite, access.offset + at, bytes,
         const_cast<std::byte*>(static_cast<const std::byte*>(from)));
  }
  template <typename Access>
  void CompareSwap(const Access& access, std::uint64_t at, std::uint64_t expected,
                   std::uint64_t desired, std::uint64_t* old_word) {
    Operation operation{.kind = OperationKind::kCompareSwap, .offset = access.offset + at};
    operation.local = reinterpret_cast<std::byte*>(old_word);
    operation.length = kWordBytes;
    operation.operand = desired;
    operation.expected = expected;
    Execute(operation);
  }
  template <typename Access>
  void Unlock(const Access& access, std::uint64_t at, std::uint64_t /*held*/,
              const std::uint64_t& to) {
    Write(access, at, kWordBytes, &to);
  }

 private:
  void Copy(OperationKind kind, std::uint64_t offset, std::uint64_t bytes, std::byte* local) {
    Operation operation{.kind = kind, .offset = offset};
    operation.local = local;
    operation.length = bytes;
    if (!descending) return Execute(operation);
    for (std::uint64_t left = bytes; left > 0; left -= kWordBytes) {
      operation.offset = offset + left - kWordBytes;
      operation.local = local + left - kWordBytes;
      operation.length = kWordBytes;
      Execute(operation);
    }
  }
  void Execute(const Operation& operation) {
    RL_ASSERT(ExecuteOperation(operation, region_, bytes_) == Outcome::kOk);
  }

  std::byte* region_;
  std::uint64_t bytes_;
};

// The main of a check: runs its suites with words in ascending order, then in descending order.
template <typename Suites>
int CheckInBothOrders(int arguments, char** argument, const Suites& suites) {
  Checker checker(arguments, argument);
  for (const bool descending : {false, true}) {
    RegionPort::descending = descending;
    suites(checker);
  }
  return checker.Finish();
}

}  // namespace slimgraph::txn
