// The words of a tuple for read timestamps, right before its key (TupleShape::times_at). Times are
// timestamps (tuple_header.h), or larger values of the same form.
#pragma once

#include <cstdint>

#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// In this order in the tuple.
enum class TimeWord : std::uint8_t {
  kClaimed,  // the latest time at which a read-only transaction has read it
  kMarked,   // the latest commit time of a read-write transaction that has read it
  kWritten,  // the commit time of the version
  kOlder,    // where the version before it is (old_versions.h)
};
constexpr std::uint32_t kTimeWords = 4;
constexpr std::uint64_t kTimeBytes = kTimeWords * kWordBytes;

// A time of a read-write transaction must be later than these times of what it accesses.
inline void RaiseTo(SharedWord word, Timestamp time) {
  std::uint64_t found = word.load();
  while (found < time && !word.compare_exchange_weak(found, time)) {
  }
}

}  // namespace slimgraph::txn
