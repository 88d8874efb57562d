// The steps of TO's stages on a tuple, and the checks of their results (timestamp_order.h). `Port`
// and `Access` are those of stages/, or those of a check under relacy (tests/relacy).
#pragma once

#include <algorithm>

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn::to_steps {

constexpr std::size_t kPendingWord = 0;
constexpr std::size_t kReadWord = 1;
constexpr std::size_t kWrittenWord = 2;
constexpr std::size_t kWords = 3;
constexpr std::uint64_t kBeingWritten = ~std::uint64_t{0};
constexpr std::uint64_t kBeforeAll = 1;

enum ReadStep : std::uint8_t { kReadRecord, kMarkRead };

inline std::uint64_t At(std::size_t word) { return word * kWordBytes; }

// Whether an older transaction has a pending write.
inline bool PendingOfOlder(const std::uint64_t* words, Timestamp timestamp) {
  return words[kPendingWord] != 0 && words[kPendingWord] < timestamp;
}

template <typename Access>
inline void NoteTimes(Access& access, const std::uint64_t* words) {
  for (std::size_t word = 0; word < kWords; ++word) {
    if (words[word] != kBeingWritten) {
      access.seen_timestamp = std::max(access.seen_timestamp, words[word]);
    }
  }
}

template <typename Port, typename Access>
inline void Post(Stage stage, Port& port, Access& access) {
  const auto& table = *access.table;
  const auto read_image = [&] {
    port.Read(access, table.key_at(), table.image_bytes(), access.image);
    access.has_image = true;
  };
  if (stage == Stage::kRead) {
    if (access.step == kReadRecord) {
      port.Read(access, 0, At(kWords), access.seen);
      read_image();
    } else if (access.seen[kReadWord] < access.timestamp) {
      port.CompareSwap(access, At(kReadWord), access.seen[kReadWord], access.timestamp,
                       &access.old_word);
    } else {
      access.old_word = access.seen[kReadWord];
    }
    // The words of one operation are read in any order, but the pending write must be read first.
    port.Read(access, At(kPendingWord), kWordBytes, access.reread);
    return port.Read(access, At(kReadWord), At(kWords) - kWordBytes, access.reread + kReadWord);
  }
  if (stage == Stage::kLock) {
    port.CompareSwap(access, At(kPendingWord), 0, access.timestamp, &access.old_word);
    port.Read(access, 0, At(kWords), access.reread);
    if (access.fetch) read_image();
    return;
  }
  if (stage == Stage::kCommit) {
    access.put[1] = kBeingWritten;
    port.Write(access, At(kWrittenWord), kWordBytes, &access.put[1]);
    port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
    port.Write(access, At(kWrittenWord), kWordBytes, &access.timestamp);
  }
  access.put[0] = 0;
  port.Unlock(access, At(kPendingWord), access.timestamp, access.put[0]);
}

template <typename Access>
inline Step CheckRead(Access& access) {
  const Timestamp timestamp = access.timestamp;
  NoteTimes(access, access.reread);
  const bool first = access.step == kReadRecord;
  const std::uint64_t written = access.reread[kWrittenWord];
  const bool older =
      PendingOfOlder(access.reread, timestamp) || (first && PendingOfOlder(access.seen, timestamp));
  if (older || written == kBeingWritten || written != access.seen[kWrittenWord]) {
    access.step = kReadRecord;
    return older ? Step::Wait() : Step::Busy();
  }
  if (written > timestamp) return Step::Abort(AbortReason::kTooLate);
  if (first) access.CheckKey();
  // It must have been marked before the pending write was looked at, by an operation before that.
  const std::uint64_t marked_by = first ? access.seen[kReadWord] : access.old_word;
  const bool marked = marked_by >= timestamp || (!first && marked_by == access.seen[kReadWord]);
  access.seen[kReadWord] = access.reread[kReadWord];
  access.step = marked ? kReadRecord : kMarkRead;
  return marked ? Step::Done() : Step::More();
}

template <typename Access>
inline Step CheckLock(Access& access) {
  const Timestamp timestamp = access.timestamp;
  if (access.old_word != 0) {
    access.seen_timestamp = std::max(access.seen_timestamp, access.old_word);
    return access.old_word < timestamp ? Step::Wait() : Step::Abort(AbortReason::kTooLate);
  }
  access.locked = true;
  NoteTimes(access, access.reread);
  const bool changed = !access.fetch && access.reread[kWrittenWord] != access.seen[kWrittenWord];
  std::copy_n(access.reread, kWords, access.seen);
  if (changed || std::max(access.seen[kReadWord], access.seen[kWrittenWord]) > timestamp) {
    return Step::Abort(AbortReason::kTooLate);
  }
  if (access.fetch) access.CheckKey();
  return Step::Done();
}

template <typename Access>
inline Step Check(Stage stage, Access& access) {
  if (stage == Stage::kRead) return CheckRead(access);
  if (stage == Stage::kLock) return CheckLock(access);
  access.locked = false;
  return Step::Done();
}

}  // namespace slimgraph::txn::to_steps
