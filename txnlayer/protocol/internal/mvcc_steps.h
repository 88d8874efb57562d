// The steps of each of MVCC's stages on a tuple, and the checks of their results (mvcc.h). `Port`
// and `Access` are those of stages/, or those of a check under relacy (tests/relacy).
#pragma once

#include <algorithm>
#include <optional>

#include "txnlayer/internal/stages/protocol.h"
#include "txnlayer/internal/stages/read_at.h"

namespace slimgraph::txn::mvcc_steps {

constexpr std::size_t kVersions = 4;
constexpr std::size_t kLockWord = 0;
constexpr std::size_t kReadWord = 1;
constexpr std::size_t kFirstWriteWord = 2;
constexpr std::size_t kWords = kFirstWriteWord + kVersions;
// With read timestamps: where the version that was replaced last is (old_versions.h).
constexpr std::size_t kOlderWord = kWords;
static_assert(kWords + 1 <= kMaxMetadataWords);
constexpr std::uint64_t kBeingWritten = ~std::uint64_t{0};
constexpr std::uint64_t kBeforeAll = 1;

enum ReadStep : std::uint8_t { kReadWords, kReadVersion, kReadLink, kReadKept };

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

// The version that a write replaces.
template <typename Access>
inline ReplacedVersion ReplacedBy(const Access& access) {
  const std::uint8_t oldest = Oldest(access.seen);
  const Timestamp written = access.seen[kFirstWriteWord + oldest];
  return {
      .there = written != 0, .place = oldest, .written = written, .older = access.seen[kOlderWord]};
}

template <typename Port, typename Access>
inline void PostRead(Port& port, Access& access) {
  const auto& table = *access.table;
  // The metadata words and the key.
  if (access.step == kReadWords) {
    return port.Read(access, 0, table.key_at() + kWordBytes, access.seen);
  }
  if (access.step == kReadLink) {
    return port.Read(access, At(kOlderWord), kWordBytes, access.reread + kOlderWord);
  }
  if (access.step == kReadKept) return port.ReadKept(access);
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
  port.Read(access, At(kReadWord), At(kWords) - kWordBytes, access.reread + kReadWord);
}

// Keeps the version that is about to be replaced, and links it from the tuple.
template <typename Port, typename Access>
inline void PostKeep(Port& port, Access& access) {
  const ReplacedVersion version = ReplacedBy(access);
  if (!version.there) return;
  if (access.kept_at > kNotKept) port.KeepVersion(access, &version);
  port.Write(access, At(kOlderWord), kWordBytes, &access.kept_at);
}

template <typename Port, typename Access>
inline void Post(Stage stage, Port& port, Access& access) {
  const auto& table = *access.table;
  if (stage == Stage::kRead || stage == Stage::kReadAt) return PostRead(port, access);
  if (stage == Stage::kLock) {
    port.CompareSwap(access, At(kLockWord), 0, access.timestamp, &access.old_word);
    port.Read(access, 0, table.key_at(), access.reread);
    return;
  }
  if (stage == Stage::kCommit) {
    if (table.keeps_versions()) PostKeep(port, access);
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

// Whether the read has been marked before the lock was looked at, by an operation before that. If
// not, another, older transaction has raised the read timestamp meanwhile: notes it.
template <typename Access>
inline bool IsMarked(Access& access) {
  const bool marked =
      access.old_word >= access.timestamp || access.old_word == access.seen[kReadWord];
  access.seen[kReadWord] = access.reread[kReadWord];
  return marked;
}

// Whether the version that was read was still the one to read at the second look at the words.
template <typename Access>
inline bool IsSameVersion(const Access& access) {
  const std::size_t word = kFirstWriteWord + access.version;
  return access.reread[word] == access.seen[word] &&
         VersionFor(access.reread, access.timestamp) == access.version;
}

template <typename Access>
inline Step CheckRead(Access& access) {
  const Timestamp timestamp = access.timestamp;
  if (access.step == kReadWords) {
    access.seen_timestamp = std::max(access.seen_timestamp, LargestOf(access.seen));
    access.CheckKey(access.seen[access.table->key_at() / kWordBytes]);
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
  const bool same = IsSameVersion(access);
  if (HeldByOlder(access.reread, timestamp) || !same) {
    access.step = kReadWords;
    return Step::Busy();
  }
  if (!IsMarked(access)) return Step::More();
  access.step = kReadWords;
  return Step::Done();
}

// The same for a transaction that only reads, at its time. Once the read is marked, no older writer
// can come any more, so it only waits for one that is there. None can come either if all versions
// are too young.
template <typename Access>
inline Step CheckReadAt(Access& access) {
  const Timestamp timestamp = access.timestamp;
  if (access.step == kReadKept) return TakeKept(access);
  if (access.step == kReadLink) {
    access.step = kReadKept;
    return BeginChain(access, access.reread[kOlderWord], 0);
  }
  if (access.step == kReadWords) {
    access.seen_timestamp = std::max(access.seen_timestamp, LargestOf(access.seen));
    access.CheckKey(access.seen[access.table->key_at() / kWordBytes]);
    const auto version = VersionFor(access.seen, timestamp);
    access.version = version.value_or(0);
    access.step = version ? kReadVersion : kReadLink;
    return Step::More();
  }
  if (!IsMarked(access)) return Step::More();
  access.step = kReadWords;
  if (HeldByOlder(access.reread, timestamp)) return Step::Wait();
  return IsSameVersion(access) ? Step::Done() : Step::More();
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
  std::copy_n(access.reread, access.table->key_at() / kWordBytes, access.seen);
  if (changed || read_later) return Step::Abort(AbortReason::kTooLate);
  return Step::Done();
}

template <typename Access>
inline Step Check(Stage stage, Access& access) {
  if (stage == Stage::kRead) return CheckRead(access);
  if (stage == Stage::kReadAt) return CheckReadAt(access);
  if (stage == Stage::kLock) return CheckLock(access);
  access.locked = false;
  return Step::Done();
}

}  // namespace slimgraph::txn::mvcc_steps
