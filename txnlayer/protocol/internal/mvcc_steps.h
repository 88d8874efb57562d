// The steps of each of MVCC's stages on a tuple, and the checks of their results (mvcc.h). `Port`
// and `Access` are those of stages/, or those of a check under relacy (tests/relacy).
#pragma once

#include <algorithm>
#include <optional>

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn::mvcc_steps {

constexpr std::size_t kVersions = 4;
constexpr std::size_t kLockWord = 0;
constexpr std::size_t kReadWord = 1;
constexpr std::size_t kFirstWriteWord = 2;
constexpr std::size_t kWords = kFirstWriteWord + kVersions;
static_assert(kWords <= kMaxMetadataWords);
constexpr std::uint64_t kBeingWritten = ~std::uint64_t{0};
constexpr std::uint64_t kBeforeAll = 1;

enum ReadStep : std::uint8_t { kReadWords, kReadVersion };

inline std::uint64_t At(std::size_t word) { return word * kWordBytes; }

// The youngest version that a transaction of that timestamp may see.
inline std::optional<std::uint8_t> VersionFor(const std::uint64_t* words, Timestamp timestamp) {
  std::optional<std::uint8_t> best;
  for (std::uint8_t version = 0; version < kVersions; ++version) {
    const std::uint64_t written = words[kFirstWriteWord + version];
    if (written == 0 || written > timestamp) continue;
    if (!best || written > words[kFirstWriteWord + *best]) best = version;
  }
  return best;
}

inline std::uint8_t Oldest(const std::uint64_t* words) {
  const auto* const first = words + kFirstWriteWord;
  return static_cast<std::uint8_t>(std::min_element(first, first + kVersions) - first);
}

// The largest timestamp among a tuple's words.
inline Timestamp LargestOf(const std::uint64_t* words) {
  Timestamp largest = 0;
  for (std::size_t word = 0; word < kWords; ++word) {
    if (words[word] != kBeingWritten) largest = std::max(largest, words[word]);
  }
  return largest;
}

// Whether a younger transaction has read or written, so that a write could only fail.
inline bool TooLateToWrite(const std::uint64_t* words, Timestamp timestamp) {
  return std::any_of(words + kReadWord, words + kWords, [timestamp](std::uint64_t time) {
    return time > timestamp && time != kBeingWritten;
  });
}

// Whether a writer that precedes this transaction holds the lock.
inline bool HeldByOlder(const std::uint64_t* words, Timestamp timestamp) {
  return words[kLockWord] != 0 && words[kLockWord] < timestamp;
}

template <typename Port, typename Access>
inline void Post(Stage stage, Port& port, Access& access) {
  const auto& table = *access.table;
  if (stage == Stage::kRead) {
    // The metadata words and the key.
    if (access.step == kReadWords) return port.Read(access, 0, At(kWords + 1), access.seen);
    port.Read(access, table.version_at(access.version), table.version_bytes(),
              access.version_bytes());
    access.has_image = true;
    if (access.seen[kReadWord] < access.timestamp) {
      port.CompareSwap(access, At(kReadWord), access.seen[kReadWord], access.timestamp,
                       &access.old_word);
    } else {
      access.old_word = access.seen[kReadWord];
    }
    // The words of one operation are read in any order, but the lock must be read first.
    port.Read(access, At(kLockWord), kWordBytes, access.reread);
    return port.Read(access, At(kReadWord), At(kWords) - kWordBytes, access.reread + kReadWord);
  }
  if (stage == Stage::kLock) {
    port.CompareSwap(access, At(kLockWord), 0, access.timestamp, &access.old_word);
    port.Read(access, 0, At(kWords), access.reread);
    return;
  }
  if (stage == Stage::kCommit) {
    const std::uint8_t oldest = Oldest(access.seen);
    const std::uint64_t written_at = At(kFirstWriteWord + oldest);
    access.put[0] = kBeingWritten;
    port.Write(access, written_at, kWordBytes, &access.put[0]);
    port.Write(access, table.version_at(oldest), table.version_bytes(), access.version_bytes());
    port.Write(access, written_at, kWordBytes, &access.timestamp);
  }
  access.put[1] = 0;
  port.Unlock(access, At(kLockWord), access.timestamp, access.put[1]);
}

template <typename Access>
inline Step CheckRead(Access& access) {
  const Timestamp timestamp = access.timestamp;
  if (access.step == kReadWords) {
    access.seen_timestamp = std::max(access.seen_timestamp, LargestOf(access.seen));
    access.CheckKey(access.seen[kWords]);
    const auto version = VersionFor(access.seen, timestamp);
    if (!version) return Step::Abort(AbortReason::kNoVersion);
    access.version = *version;
    if (access.write && TooLateToWrite(access.seen, timestamp)) {
      return Step::Abort(AbortReason::kTooLate);
    }
    if (HeldByOlder(access.seen, timestamp)) return Step::Busy();
    access.step = kReadVersion;
    return Step::More();
  }
  // It must have been marked before the lock was looked at, by an operation before that.
  const bool marked = access.old_word >= timestamp || access.old_word == access.seen[kReadWord];
  const std::size_t word = kFirstWriteWord + access.version;
  const bool same = access.reread[word] == access.seen[word] &&
                    VersionFor(access.reread, timestamp) == access.version;
  if (HeldByOlder(access.reread, timestamp) || !same) {
    access.step = kReadWords;
    return Step::Busy();
  }
  access.seen[kReadWord] = access.reread[kReadWord];
  if (!marked) return Step::More();  // another, older transaction has raised it meanwhile
  access.step = kReadWords;
  return Step::Done();
}

// The version that was read must be the youngest, and no younger transaction may have read it.
template <typename Access>
inline Step CheckLock(Access& access) {
  if (access.old_word != 0) {
    access.seen_timestamp = std::max(access.seen_timestamp, access.old_word);
    return Step::Abort(AbortReason::kLocked);
  }
  access.locked = true;
  access.seen_timestamp = std::max(access.seen_timestamp, LargestOf(access.reread));
  const std::size_t word = kFirstWriteWord + access.version;
  const auto* const first = access.reread + kFirstWriteWord;
  const std::uint64_t youngest = *std::max_element(first, first + kVersions);
  const bool changed = access.reread[word] != access.seen[word] || youngest != access.seen[word];
  const bool read_later = access.reread[kReadWord] > access.timestamp;
  std::copy_n(access.reread, kWords, access.seen);
  if (changed || read_later) return Step::Abort(AbortReason::kTooLate);
  return Step::Done();
}

template <typename Access>
inline Step Check(Stage stage, Access& access) {
  if (stage == Stage::kRead) return CheckRead(access);
  if (stage == Stage::kLock) return CheckLock(access);
  access.locked = false;
  return Step::Done();
}

}  // namespace slimgraph::txn::mvcc_steps
