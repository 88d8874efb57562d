// The steps of a read at a time on a tuple, and the checks of their results (read_at.h). `Port` and
// `Access` are those of this folder, or those of a check under relacy (tests/relacy). `free` tells
// of a tuple's first word whether no writer holds the lock.
#pragma once

#include <algorithm>

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn::read_at_steps {

// Where words lie in access.reread: the lock before and after the record, the time and the link.
constexpr std::size_t kLockAgain = 1;
constexpr std::size_t kTimeAgain = 2;
constexpr std::size_t kLinkAgain = 3;

// At home. False: a writer is there, or was there meanwhile. If another comes after the first look
// at the time, its time is later than the transaction's, and it keeps this version.
template <typename Access, typename Free>
bool ReadHere(std::byte* tuple, Access& access, Free free) {
  const auto& table = *access.table;
  const auto time = [&](TimeWord word) { return WordAt(tuple + table.time_at(word)); };
  if (table.leaves_times()) RaiseTo(time(TimeWord::kClaimed), access.timestamp);
  const Timestamp written = time(TimeWord::kWritten).load();
  access.time(TimeWord::kWritten) = written;
  if (!free(WordAt(tuple).load())) return false;
  LoadWords(access.version_bytes(), tuple + table.version_at(0), table.version_bytes());
  access.reread[kLinkAgain] = time(TimeWord::kOlder).load();
  access.has_image = true;
  return free(WordAt(tuple).load()) && time(TimeWord::kWritten).load() == written;
}

// --- From another node.
enum AfarStep : std::uint8_t { kLook, kTake, kFollow };

// Whether a later writer commits after the transaction's time anyway.
template <typename Access>
bool IsClaimed(Access& access) {
  if (!access.table->leaves_times()) return true;
  return std::max({access.time(TimeWord::kClaimed), access.time(TimeWord::kMarked),
                   access.time(TimeWord::kWritten)}) >= access.timestamp;
}

// kLook or kTake.
template <typename Port, typename Access>
void Post(Port& port, Access& access) {
  const auto& table = *access.table;
  if (access.step == kLook) {
    return port.Read(access, table.time_at(TimeWord::kClaimed), kTimeBytes,
                     &access.time(TimeWord::kClaimed));
  }
  if (!IsClaimed(access)) {
    port.CompareSwap(access, table.time_at(TimeWord::kClaimed), access.time(TimeWord::kClaimed),
                     access.timestamp, &access.old_word);
  }
  port.Read(access, 0, kWordBytes, access.reread);
  port.Read(access, table.key_at(), table.image_bytes(), access.image);
  port.Read(access, 0, kWordBytes, access.reread + kLockAgain);
  port.Read(access, table.time_at(TimeWord::kWritten), 2 * kWordBytes, access.reread + kTimeAgain);
  access.has_image = true;
}

// Done: the record, its time and the link belong together.
template <typename Access, typename Free>
Step CheckTake(Access& access, Free free) {
  Timestamp& claimed = access.time(TimeWord::kClaimed);
  if (!IsClaimed(access) && access.old_word != claimed) {
    claimed = access.old_word;  // another reader has changed it
    if (!IsClaimed(access)) return Step::More();
  }
  if (!free(access.reread[0]) || !free(access.reread[kLockAgain])) {
    access.step = kLook;
    return Step::Wait();
  }
  Timestamp& written = access.time(TimeWord::kWritten);
  if (access.reread[kTimeAgain] == written) return Step::Done();
  written = access.reread[kTimeAgain];
  return Step::More();
}

}  // namespace slimgraph::txn::read_at_steps
