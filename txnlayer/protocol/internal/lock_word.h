// The lock word (tuple_header.h has its bits). Free: 0. With one holder: its mode, age and owner.
// With shared readers: their number, and an age that is at least as old as each of them.
//
// One-sided, a remote transaction takes a lock, or finds it taken, by one CAS. That suffices for a
// writer. The word that a reader writes depends on the old word, so a remote reader could need
// several CASes. So only the tuple's home joins readers, by the functions below: for transactions
// that run there, and for those that ask it by message. Readers that lock one-sided lock like
// writers.
//
// Readers are counted in two generations, so that the single age can rise as readers leave. Readers
// that began kGenerationUs or more after that age belong to the younger generation. When the last
// reader of the older generation leaves, the younger one replaces it and the age rises by
// kGenerationUs. Otherwise, if new readers always joined before the last one left, a writer would
// die again and again because of readers that left long ago.
#pragma once

#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/tuple_header.h"
#include "txnlayer/locks/lock_mode.h"

namespace slimgraph::txn::lock_word {

constexpr unsigned kModeAt = 61;
constexpr unsigned kOlderAt = 60;  // which of the two counts is of the older generation
constexpr unsigned kAgeAt = kOwnerBits;
constexpr unsigned kCountBits = kOwnerBits / 2;
constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
constexpr std::uint64_t kOwnerMask = (std::uint64_t{1} << kOwnerBits) - 1;
constexpr std::uint64_t kGenerationUs = 1 << 10;
static_assert(kAgeAt + kAgeBits == kOlderAt);

constexpr LockMode ModeOf(std::uint64_t word) { return static_cast<LockMode>(word >> kModeAt); }
constexpr bool OfReaders(std::uint64_t word) { return ModeOf(word) == LockMode::kS; }
constexpr bool OfAWriter(std::uint64_t word) { return word != 0 && !OfReaders(word); }
constexpr std::uint64_t Age(std::uint64_t word) { return word >> kAgeAt & kAgeMask; }

// The word of a writer.
constexpr std::uint64_t OfWriter(Timestamp timestamp, Owner owner) {
  return static_cast<std::uint64_t>(LockMode::kX) << kModeAt | AgeOf(timestamp) << kAgeAt | owner;
}

// Decodes the age in a word, of a holder or of readers, to a timestamp. `mine` is a timestamp of
// about the same time, which resolves the wrap of ages.
constexpr Timestamp TimestampOfHolder(std::uint64_t word, Timestamp mine) {
  const auto clock = static_cast<std::int64_t>(ClockOf(mine));
  return TimestampOf(static_cast<std::uint64_t>(clock + AgeDifference(Age(word), AgeOf(mine))), 0);
}

// Whether that transaction, which does not hold the lock, is older than all holders. Its own owner
// counts as older: then the holder is the owner's previous attempt, whose release is still under
// way.
constexpr bool IsOlder(Timestamp timestamp, Owner owner, std::uint64_t word) {
  const std::int64_t difference = AgeDifference(AgeOf(timestamp), Age(word));
  if (OfReaders(word) || difference != 0) return difference < 0;
  return owner <= (word & kOwnerMask);
}

// --- Readers. The functions below first try the most common case by a CAS, without loading the
// word. A load would fetch its cache line once for reading and once more for writing.

struct Readers {
  unsigned older = 0;  // which count is of the older generation
  std::uint64_t age = 0;
  std::uint64_t counts[2] = {};

  static Readers Of(std::uint64_t word) {
    return {static_cast<unsigned>(word >> kOlderAt & 1),
            Age(word),
            {word & kCountMask, word >> kCountBits & kCountMask}};
  }
  std::uint64_t Word() const {
    return static_cast<std::uint64_t>(LockMode::kS) << kModeAt | std::uint64_t{older} << kOlderAt |
           age << kAgeAt | counts[1] << kCountBits | counts[0];
  }
  std::uint64_t all() const { return counts[0] + counts[1]; }
};

// The word when that transaction is the only reader, and was when it joined.
inline std::uint64_t OfOneReader(Timestamp timestamp) {
  return Readers{.age = AgeOf(timestamp), .counts = {1, 0}}.Word();
}

// Joins the readers, or becomes the first. Returns 0 and sets the generation in which the reader
// counts. Returns the word when a writer holds the lock or there are too many readers.
inline std::uint64_t Join(SharedWord word, Timestamp timestamp, std::uint8_t& generation) {
  std::uint64_t found = 0;
  generation = 0;
  if (word.compare_exchange_strong(found, OfOneReader(timestamp))) return 0;
  while (true) {
    if (OfAWriter(found)) return found;
    std::uint64_t joined = OfOneReader(timestamp);
    generation = 0;
    if (found != 0) {
      Readers readers = Readers::Of(found);
      const std::int64_t younger = AgeDifference(AgeOf(timestamp), readers.age);
      if (younger < 0) readers.age = AgeOf(timestamp);
      const bool late = younger >= static_cast<std::int64_t>(kGenerationUs);
      generation = static_cast<std::uint8_t>(late ? 1 - readers.older : readers.older);
      if (readers.counts[generation]++ == kCountMask) return found;
      joined = readers.Word();
    }
    if (word.compare_exchange_weak(found, joined)) return 0;
  }
}

// A reader of that generation releases the lock.
inline void Leave(SharedWord word, Timestamp timestamp, std::uint8_t generation) {
  std::uint64_t found = OfOneReader(timestamp);
  std::uint64_t left = 0;
  while (!word.compare_exchange_weak(found, left)) {
    Readers readers = Readers::Of(found);
    --readers.counts[generation];
    if (readers.counts[readers.older] == 0) {
      readers.older = 1 - readers.older;
      readers.age = (readers.age + kGenerationUs) & kAgeMask;
    }
    left = readers.all() == 0 ? 0 : readers.Word();
  }
}

// The only reader becomes a writer. False: there are other readers.
inline bool Upgrade(SharedWord word, Timestamp timestamp, Owner owner) {
  std::uint64_t found = OfOneReader(timestamp);
  while (Readers::Of(found).all() == 1) {
    if (word.compare_exchange_weak(found, OfWriter(timestamp, owner))) return true;
  }
  return false;
}

}  // namespace slimgraph::txn::lock_word
