#include "txnlayer/protocol/internal/sundial.h"

#include <algorithm>

#include "txnlayer/protocol/internal/guarded_read.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kSundialStages[] = {Stage::kRead,   Stage::kLock,    Stage::kLog,
                                    Stage::kCommit, Stage::kRelease, Stage::kRenew};

// The first CAS expects the word as it was when the record was read. Each retry expects the word
// that the previous CAS found.
enum RenewStep : std::uint8_t { kAsRead, kAsFound };
std::uint64_t Expected(const Access& access) {
  return access.step == kAsRead ? access.seen[0] : access.reread[0];
}

using namespace lease_word;

// The same version, valid to `time`. If the length field is too short, the version's write time is
// raised. Transactions that read the version before must then abort, which is safe.
std::uint64_t Extended(std::uint64_t word, std::uint64_t time) {
  return Lease(std::max(WrittenAt(word), time - std::min(time, kLengthMask)), time);
}

}  // namespace

std::span<const Stage> Sundial::stages() const { return kSundialStages; }

bool Sundial::LocksFree(const std::uint64_t* metadata) const { return !Locked(metadata[0]); }

std::optional<Protocol::ReadStamp> Sundial::StampOf(const std::uint64_t* metadata) const {
  if (Locked(metadata[0])) return std::nullopt;
  return ReadStamp{.mark = WrittenAt(metadata[0])};
}

Timestamp Sundial::FreeLocks(std::uint64_t* metadata) const {
  metadata[0] &= ~kLockedBit;
  return 0;
}

void Sundial::Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const {
  const std::uint64_t valid_to = std::max(ValidTo(metadata[0]), ValidTo(fresh[0]));
  fresh[0] = Lease(std::max(WrittenAt(metadata[0]), WrittenAt(fresh[0])), valid_to);
}

bool Sundial::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(Stage::kRead, fresh);
}

bool Sundial::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.RunStage(Stage::kRead, fresh) &&
         transaction.RunStage(Stage::kLock, transaction.WritesAmong(fresh));
}

bool Sundial::Prepare(Transaction& transaction) const {
  // Tuples that were first read and then written are not locked yet.
  if (!transaction.RunStage(Stage::kLock, transaction.WritesAmong(transaction.accesses())))
    return false;
  std::uint64_t time = 0;
  for (const Access* const access : transaction.accesses()) {
    const std::uint64_t word = access->seen[0];
    time = std::max(time, access->write ? ValidTo(word) + 1 : WrittenAt(word));
  }
  if (time > kLastTime) {
    transaction.SetAbortReason(AbortReason::kTimeEnded);
    return false;
  }
  for (Access* const access : transaction.accesses()) access->commit_timestamp = time;
  std::vector<Access*>& expired = transaction.Scratch();
  for (Access* const access : transaction.reads()) {
    if (ValidTo(access->seen[0]) < time) expired.push_back(access);
  }
  return transaction.RunStage(Stage::kRenew, expired);
}

void Sundial::Install(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kCommit, transaction.writes());
}

void Sundial::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void Sundial::Post(Stage stage, Port& port, Access& access) const {
  const Table& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      port.CompareSwap(access, 0, access.seen[0], access.seen[0] | kLockedBit, &access.old_word);
      break;
    case Stage::kRenew:
      port.CompareSwap(access, 0, Expected(access),
                       Extended(Expected(access), access.commit_timestamp), &access.old_word);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      access.put[0] = Lease(access.commit_timestamp, access.commit_timestamp);
      port.Unlock(access, 0, access.seen[0] | kLockedBit, access.put[0]);
      break;
    default:
      access.put[0] = access.seen[0];
      port.Unlock(access, 0, access.seen[0] | kLockedBit, access.put[0]);
  }
}

Step Sundial::Check(Stage stage, Access& access) const {
  switch (stage) {
    case Stage::kRead:
      if (!ReadIsWhole(access, WrittenAt)) return Step::Busy();
      access.seen[0] = access.reread[0];
      return Step::Done();
    case Stage::kLock:
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      if (Locked(access.old_word)) return Step::Abort(AbortReason::kLocked);
      if (WrittenAt(access.old_word) != WrittenAt(access.seen[0])) {
        return Step::Abort(AbortReason::kChanged);
      }
      access.seen[0] = access.old_word;  // another transaction has renewed the lease
      return Step::More();
    case Stage::kRenew: {
      const std::uint64_t word = access.old_word;
      if (word == Expected(access)) return Step::Done();
      if (WrittenAt(word) != WrittenAt(access.seen[0])) return Step::Abort(AbortReason::kChanged);
      if (ValidTo(word) >= access.commit_timestamp) return Step::Done();
      if (Locked(word)) return Step::Abort(AbortReason::kLease);
      access.reread[0] = word;
      access.step = kAsFound;
      return Step::More();
    }
    default:
      access.locked = false;
      return Step::Done();
  }
}

}  // namespace slimgraph::txn
