#include "txnlayer/protocol/sundial.h"

#include <algorithm>

#include "txnlayer/protocol/guarded_read.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kSundialStages[] = {Stage::kRead,   Stage::kLock,    Stage::kLog,
                                    Stage::kCommit, Stage::kRelease, Stage::kRenew};

// The word is swapped for what it was when the record was read, and then for what it was found to
// be instead: every try is a look as well.
enum RenewStep : std::uint8_t { kAsRead, kAsFound };
std::uint64_t Expected(const Access& access) {
  return access.step == kAsRead ? access.seen[0] : access.again[0];
}

// The word: lock bit, write timestamp, length of the lease.
constexpr unsigned kLengthBits = 20;
constexpr std::uint64_t kLengthMask = (std::uint64_t{1} << kLengthBits) - 1;
constexpr std::uint64_t kLockBit = std::uint64_t{1} << 63;

bool IsLocked(std::uint64_t word) { return (word & kLockBit) != 0; }
std::uint64_t WrittenAt(std::uint64_t word) { return (word & ~kLockBit) >> kLengthBits; }
std::uint64_t ValidTo(std::uint64_t word) { return WrittenAt(word) + (word & kLengthMask); }
std::uint64_t Lease(std::uint64_t written_at, std::uint64_t valid_to) {
  return (written_at << kLengthBits) | (valid_to - written_at);
}

// The same version, valid to `time`. Where the length does not suffice, the version is said to be
// younger than it is: whoever has read it before must then abort, and nobody errs.
std::uint64_t Extended(std::uint64_t word, std::uint64_t time) {
  return Lease(std::max(WrittenAt(word), time - std::min(time, kLengthMask)), time);
}

}  // namespace

std::span<const Stage> Sundial::stages() const { return kSundialStages; }

bool Sundial::Idle(const std::uint64_t* metadata) const { return !IsLocked(metadata[0]); }

std::optional<Protocol::Look> Sundial::LookAt(const std::uint64_t* metadata) const {
  if (IsLocked(metadata[0])) return std::nullopt;
  return Look{.mark = WrittenAt(metadata[0])};
}

Timestamp Sundial::Free(std::uint64_t* metadata) const {
  metadata[0] &= ~kLockBit;
  return 0;
}

void Sundial::Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const {
  const std::uint64_t valid_to = std::max(ValidTo(metadata[0]), ValidTo(fresh[0]));
  fresh[0] = Lease(std::max(WrittenAt(metadata[0]), WrittenAt(fresh[0])), valid_to);
}

bool Sundial::Ask(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.Start(Stage::kRead, fresh);
}

bool Sundial::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.Run(Stage::kRead, fresh) &&
         transaction.Run(Stage::kLock, transaction.WritesAmong(fresh));
}

bool Sundial::Prepare(Transaction& transaction) const {
  // What was first read and then written has no lock yet.
  if (!transaction.Run(Stage::kLock, transaction.WritesAmong(transaction.accesses()))) return false;
  std::uint64_t time = 0;
  for (const Access* const access : transaction.accesses()) {
    const std::uint64_t word = access->seen[0];
    time = std::max(time, access->write ? ValidTo(word) + 1 : WrittenAt(word));
  }
  for (Access* const access : transaction.accesses()) access->commit_timestamp = time;
  std::vector<Access*>& expired = transaction.Scratch();
  for (Access* const access : transaction.reads()) {
    if (ValidTo(access->seen[0]) < time) expired.push_back(access);
  }
  return transaction.Run(Stage::kRenew, expired);
}

void Sundial::Install(Transaction& transaction) const {
  transaction.RunLast(Stage::kCommit, transaction.writes());
}

void Sundial::Release(Transaction& transaction) const {
  transaction.RunLast(Stage::kRelease, transaction.locked());
}

void Sundial::Post(Stage stage, Port& port, Access& access) const {
  const Table& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      port.CompareSwap(access, 0, access.seen[0], access.seen[0] | kLockBit, &access.old_word);
      break;
    case Stage::kRenew:
      port.CompareSwap(access, 0, Expected(access),
                       Extended(Expected(access), access.commit_timestamp), &access.old_word);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      access.put[0] = Lease(access.commit_timestamp, access.commit_timestamp);
      port.Unlock(access, 0, access.seen[0] | kLockBit, access.put[0]);
      break;
    default:
      access.put[0] = access.seen[0];
      port.Unlock(access, 0, access.seen[0] | kLockBit, access.put[0]);
  }
}

Step Sundial::Check(Stage stage, Access& access) const {
  switch (stage) {
    case Stage::kRead:
      if (!ReadIsWhole(access, IsLocked, WrittenAt)) return Step::Busy();
      access.seen[0] = access.again[0];
      return Step::Done();
    case Stage::kLock:
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      if (IsLocked(access.old_word)) return Step::Abort(AbortReason::kLocked);
      if (WrittenAt(access.old_word) != WrittenAt(access.seen[0])) {
        return Step::Abort(AbortReason::kChanged);
      }
      access.seen[0] = access.old_word;  // somebody has renewed it
      return Step::More();
    case Stage::kRenew: {
      const std::uint64_t word = access.old_word;
      if (word == Expected(access)) return Step::Done();
      if (WrittenAt(word) != WrittenAt(access.seen[0])) return Step::Abort(AbortReason::kChanged);
      if (ValidTo(word) >= access.commit_timestamp) return Step::Done();
      if (IsLocked(word)) return Step::Abort(AbortReason::kLease);
      access.again[0] = word;
      access.step = kAsFound;
      return Step::More();
    }
    default:
      access.locked = false;
      return Step::Done();
  }
}

}  // namespace slimgraph::txn
