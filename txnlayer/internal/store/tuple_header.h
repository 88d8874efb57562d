// The metadata words at the head of a tuple: their bit layouts and the limits that follow from
// them.
//
// A tuple begins with one to six words of 64 bits (TupleShape). Each word is changed by one atomic
// operation, so fields that must change together share a word. From the highest bit:
//
//   lock      mode 3, spare 1, age 34, owner 26                  NOWAIT, WAITDIE: one holder
//             mode 3, which 1, age 34, readers 13, readers 13    the same: readers (lock_word.h)
//   sequence  locked 1, owner 26, writes 37                      OCC
//   lease     lockers 10, written 43, length 11                  SUNDIAL
//   time      clock 46, thread 18                                MVCC: lock, read time, write times
//   count     64                                                 WAITDIE: waiting; CALVIN: writers
//
// - An owner is a coroutine: one of 1,024 nodes x 256 threads x 256 coroutines.
// - A mode is one of IS, IX, S, SIX and X; two more are possible.
// - A clock counts the microseconds of a job. 46 bits last for 2.2 years.
// - An age is the low bits of the clock at the transaction's first attempt. Ages wrap every 4.7
//   hours. They are compared by the sign of their difference, which is right for ages less than 2.3
//   hours apart. A transaction gets a new age after an hour of retries.
// - The count of writes wraps, and is only compared for equality.
// - Lockers beyond the first are about to leave. Jobs with too many coroutines for the field have
//   one locker at most (protocol/internal/sundial.cc).
// - "Written" is logical time: the length of a chain of commits that depend on each other. 43 bits
//   last for 100 days at a million such commits per second. A transaction that needs a later time
//   is refused.
// - Clocks begin shortly before ages wrap, and counts of writes begin shortly before they wrap. So
//   every run exercises the wrap-around.
//
// None of these words is written to disk. On disk, a version is identified by its count of writes
// (table.h).
#pragma once

#include <cstdint>

#include "slimgraph/base/types.h"

namespace slimgraph::txn {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

constexpr unsigned kCoroutineBits = 8;
constexpr unsigned kThreadBits = 8;
constexpr unsigned kNodeBits = 10;
constexpr std::uint32_t kMaxCoroutines = 1U << kCoroutineBits;
constexpr std::uint32_t kMaxThreads = 1U << kThreadBits;
static_assert(kMaxNodes <= 1U << kNodeBits);

// Identifies a coroutine of the job.
using Owner = std::uint32_t;
constexpr unsigned kOwnerBits = kNodeBits + kThreadBits + kCoroutineBits;
constexpr Owner OwnerOf(NodeId node, std::uint32_t thread, std::uint32_t coroutine) {
  return (node << (kThreadBits + kCoroutineBits)) | (thread << kCoroutineBits) | coroutine;
}

// A transaction's timestamp: a clock value and the thread. Timestamps are unique because a thread
// uses each clock value once. Never 0.
using Timestamp = std::uint64_t;
constexpr unsigned kTimeThreadBits = kNodeBits + kThreadBits;
constexpr Timestamp TimestampOf(std::uint64_t clock, Owner owner) {
  return (clock << kTimeThreadBits) | (owner >> kCoroutineBits);
}
constexpr std::uint64_t ClockOf(Timestamp timestamp) { return timestamp >> kTimeThreadBits; }

constexpr unsigned kAgeBits = 34;
constexpr std::uint64_t kAgeMask = (std::uint64_t{1} << kAgeBits) - 1;
constexpr std::uint64_t kFirstClock = (std::uint64_t{1} << kAgeBits) - (std::uint64_t{1} << 16);
constexpr std::uint64_t kMostAgeUs = std::uint64_t{3600} * 1'000'000;
constexpr std::uint64_t AgeOf(Timestamp timestamp) { return ClockOf(timestamp) & kAgeMask; }
// Negative when `one` is older.
constexpr std::int64_t AgeDifference(std::uint64_t one, std::uint64_t other) {
  return static_cast<std::int64_t>((one - other) << (64 - kAgeBits)) >> (64 - kAgeBits);
}

// The lock bit of OCC's word.
constexpr std::uint64_t kLockedBit = std::uint64_t{1} << 63;
constexpr bool Locked(std::uint64_t word) { return (word & kLockedBit) != 0; }

// OCC's word: the lock bit, the holder of the lock, and the number of times the record was
// replaced.
namespace sequence_word {

constexpr unsigned kWritesBits = 63 - kOwnerBits;
constexpr std::uint64_t kWritesMask = (std::uint64_t{1} << kWritesBits) - 1;
constexpr std::uint64_t kFirst = kWritesMask - 7;  // of an unused tuple

constexpr std::uint64_t LockedBy(std::uint64_t word, Owner owner) {
  return kLockedBit | (std::uint64_t{owner} << kWritesBits) | word;
}
constexpr std::uint64_t Unlocked(std::uint64_t word) { return word & kWritesMask; }
constexpr std::uint64_t NextSequence(std::uint64_t word) { return (word + 1) & kWritesMask; }

}  // namespace sequence_word

// SUNDIAL's word: the number of lockers (who holds the lock, and those who are about to leave), the
// logical time of the version's write, and the length of its lease.
namespace lease_word {

constexpr unsigned kLockersBits = 10;
constexpr std::uint64_t kMostLockers = (std::uint64_t{1} << kLockersBits) - 1;
constexpr std::uint64_t kOneLocker = std::uint64_t{1} << (64 - kLockersBits);
constexpr unsigned kLengthBits = 11;
constexpr std::uint64_t kLengthMask = (std::uint64_t{1} << kLengthBits) - 1;
constexpr std::uint64_t kLastTime = (std::uint64_t{1} << (64 - kLockersBits - kLengthBits)) - 1;

constexpr bool Locked(std::uint64_t word) { return word >= kOneLocker; }
constexpr std::uint64_t Unlocked(std::uint64_t word) { return word & (kOneLocker - 1); }
constexpr std::uint64_t WrittenAt(std::uint64_t word) { return Unlocked(word) >> kLengthBits; }
constexpr std::uint64_t ValidTo(std::uint64_t word) {
  return WrittenAt(word) + (word & kLengthMask);
}
// If the length field is too short, the time of the write is raised.
constexpr std::uint64_t Lease(std::uint64_t written_at, std::uint64_t valid_to) {
  const bool fits = valid_to - written_at <= kLengthMask;
  return fits ? written_at << kLengthBits | (valid_to - written_at) : valid_to << kLengthBits;
}

}  // namespace lease_word

}  // namespace slimgraph::txn
