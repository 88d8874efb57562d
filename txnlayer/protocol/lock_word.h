// The word of a lock that one writer has, or any number of readers. Free: 0. A writer's: its
// timestamp. Readers': a bit, the clock of the oldest of them that has come since the first, and
// how many there are.
//
// From afar, one compare-and-swap takes a lock or finds it taken. That suffices for a writer; what
// readers write depends on what was there, and would take several from afar. So only transactions
// at the tuple's home read together, by the functions below; from afar, readers lock like writers.
//
// That the clock may be that of a reader that has left only makes the readers seem older.
#pragma once

#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/timestamp.h"

namespace slimgraph::txn::lock_word {

constexpr std::uint64_t kReadersBit = std::uint64_t{1} << 63;  // a clock of 25 days leaves it free
constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kOwnerBits) - 1;

inline bool OfReaders(std::uint64_t word) { return (word & kReadersBit) != 0; }
// In the place that it has in timestamps.
inline Timestamp Clock(std::uint64_t word) { return word & ~kReadersBit & ~kCountMask; }
// A timestamp that has been met.
inline Timestamp Met(std::uint64_t word) { return OfReaders(word) ? Clock(word) : word; }

// Whether that transaction, which does not hold the lock, is older than all that do. One that has
// the timestamp of the holder itself counts as older: it is its last attempt, whose release is
// still on its way.
inline bool IsOlder(Timestamp timestamp, std::uint64_t word) {
  return OfReaders(word) ? Clock(timestamp) < Clock(word) : timestamp <= word;
}

// How it looks while that transaction alone reads. The functions below begin with what is the case
// most often, without a look at the word: that would bring its line here once to be read, and once
// more to be written.
inline std::uint64_t OfOne(Timestamp timestamp) { return kReadersBit | Clock(timestamp) | 1; }

// Joins the readers, or becomes the first; returns 0. Where a writer holds the lock, the word.
inline std::uint64_t Join(SharedWord word, Timestamp timestamp) {
  std::uint64_t found = 0;
  while (true) {
    const std::uint64_t clock = std::min(Clock(found), Clock(timestamp));
    const std::uint64_t joined =
        found == 0 ? OfOne(timestamp) : kReadersBit | clock | ((found & kCountMask) + 1);
    if (word.compare_exchange_weak(found, joined)) return 0;
    if (found != 0 && !OfReaders(found)) return found;
  }
}

// That reader lets go.
inline void Leave(SharedWord word, Timestamp timestamp) {
  std::uint64_t found = OfOne(timestamp);
  while (!word.compare_exchange_weak(found, (found & kCountMask) == 1 ? 0 : found - 1)) {
  }
}

// The only reader becomes a writer; false: there are others.
inline bool Upgrade(SharedWord word, Timestamp timestamp) {
  std::uint64_t found = OfOne(timestamp);
  while ((found & kCountMask) == 1) {
    if (word.compare_exchange_weak(found, timestamp)) return true;
  }
  return false;
}

}  // namespace slimgraph::txn::lock_word
