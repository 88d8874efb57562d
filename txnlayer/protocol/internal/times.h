// What read-write transactions do for read timestamps (stages/read_at.h) in the stages of protocols
// whose writers hold a lock in the tuple's first word.
#pragma once

#include "txnlayer/internal/stages/access.h"
#include "txnlayer/internal/stages/port.h"

namespace slimgraph::txn::times {

// The first of the TimeWords, in protocols whose other words are so many. 0: they keep no times.
constexpr std::uint32_t WordsAfter(std::uint32_t others, bool timed) { return timed ? others : 0; }
// All words.
constexpr std::uint32_t AllWords(std::uint32_t others, bool timed) {
  return others + (timed ? kTimeWords : 0);
}

// Reads all times. For a tuple that is to be written, after it was locked.
inline void PostRead(Port& port, Access& access) {
  if (!access.table->timed()) return;
  port.Read(access, access.table->time_at(TimeWord::kClaimed), kTimeBytes,
            &access.time(TimeWord::kClaimed));
}

// Under the lock, before the version is replaced: keeps it, and stores the new one's times.
inline void PostReplace(Port& port, Access& access) {
  if (!access.table->timed()) return;
  if (access.kept_at > kNotKept) port.KeepVersion(access);
  access.time(TimeWord::kWritten) = access.commit_timestamp;
  access.time(TimeWord::kOlder) = access.kept_at;
  port.Write(access, access.table->time_at(TimeWord::kWritten), 2 * kWordBytes,
             &access.time(TimeWord::kWritten));
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
