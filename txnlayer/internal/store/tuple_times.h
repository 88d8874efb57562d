// The words of a tuple for read timestamps, right before its key (TupleShape::times_at). Under
// kDst, times are timestamps (tuple_header.h), or larger values of the same form. Under kVector, a
// time is the count of a thread's commits, with the thread, in the form of a timestamp.
#pragma once

#include <cstdint>

#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// Where the times of transactions come from (stages/read_at.h).
enum class Timestamps : std::uint8_t {
  kNone,    // there are none, and transactions that only read run like all others
  kDst,     // from the tuples and from the threads' clocks
  kGlobal,  // from one counter, on node 0
  kVector,  // a counter of each thread; node 0 has them all
};

// In this order in the tuple. The first two are used under kDst alone.
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
