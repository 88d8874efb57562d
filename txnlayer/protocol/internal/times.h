// What read-write transactions do for read timestamps (stages/read_at.h) in the stages of protocols
// whose writers hold a lock in the tuple's first word. `Port` and `Access` are those of stages/, or
// those of a check under relacy (tests/relacy).
#pragma once

#include "txnlayer/internal/stages/access.h"
#include "txnlayer/internal/stages/port.h"

namespace slimgraph::txn::times {

// The shape of tuples with so many other words.
inline TupleShape ShapeOf(std::uint32_t others, Timestamps timestamps) {
  if (timestamps == Timestamps::kNone) return {.metadata_words = others};
  return {.metadata_words = others + kTimeWords, .timestamps = timestamps, .times_at = others};
}

// After a tuple that is to be written was locked: reads the times that others have left.
template <typename Port, typename Access>
void PostRead(Port& port, Access& access) {
  port.Read(access, access.table->time_at(TimeWord::kClaimed), 2 * kWordBytes,
            &access.time(TimeWord::kClaimed));
}

// Under the lock: keeps the version that is replaced, and stores the new one with its times.
template <typename Port, typename Access>
void PostReplace(Port& port, Access& access) {
  if (access.kept_at > kNotKept) port.KeepVersion(access);
  constexpr std::uint64_t kBefore = 2 * kWordBytes;
  std::byte* const from = access.image - kBefore;
  std::memcpy(from, &access.commit_timestamp, kWordBytes);
  std::memcpy(from + kWordBytes, &access.kept_at, kWordBytes);
  std::memcpy(access.image, &access.key, kWordBytes);
  port.Write(access, access.table->time_at(TimeWord::kWritten),
             kBefore + access.table->image_bytes(), from);
}

// The largest of the times in a tuple's metadata.
inline Timestamp Latest(const std::uint64_t* metadata, std::uint32_t times_at) {
  if (times_at == 0) return 0;
  const auto* const times = metadata + times_at;
  return std::max({times[static_cast<int>(TimeWord::kClaimed)],
                   times[static_cast<int>(TimeWord::kMarked)],
                   times[static_cast<int>(TimeWord::kWritten)]});
}

}  // namespace slimgraph::txn::times
