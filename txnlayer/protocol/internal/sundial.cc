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

using lease_word::kLastTime;
using lease_word::kOneLocker;
using lease_word::Lease;
using lease_word::ValidTo;
using lease_word::WrittenAt;

// A lock that is taken by adding oneself to the lockers has a further step when others were there
// before.
enum LockStep : std::uint8_t { kEnter, kGiveUp };

// The same version, valid to `time`. If its write time is raised, transactions that read it before
// must abort, which is safe.
std::uint64_t Extended(std::uint64_t word, std::uint64_t time) {
  return Lease(WrittenAt(word), time);
}

// Others may be entering and giving up, so only differences are added while the lock is held.
void PostUnlock(Port& port, Access& access, std::uint64_t to) {
  port.FetchAdd(access, 0, to - (access.seen[0] + kOneLocker), &access.old_word);
}

void PostEnter(Port& port, Access& access) {
  port.FetchAdd(access, 0, kOneLocker, &access.old_word);
  port.Read(access, access.table->key_at(), access.table->image_bytes(), access.image);
  access.has_image = true;
}

Step CheckEnter(Access& access) {
  if (access.step == kGiveUp) {
    access.waiting = false;
    return Step::Abort(AbortReason::kLocked);
  }
  if (lease_word::Locked(access.old_word)) {
    access.waiting = true;  // until it has left the lockers again
    access.step = kGiveUp;
    return Step::More();
  }
  access.CheckKey();
  access.seen[0] = access.old_word;
  access.locked = true;
  return Step::Done();
}

Step CheckRead(Access& access) {
  if (!ReadIsWhole(access, WrittenAt, lease_word::Locked)) return Step::Busy();
  access.seen[0] = access.reread[0];
  return Step::Done();
}

}  // namespace

std::span<const Stage> Sundial::stages() const { return kSundialStages; }

bool Sundial::LocksFree(const std::uint64_t* metadata) const {
  return !lease_word::Locked(metadata[0]);
}

std::optional<Protocol::ReadStamp> Sundial::StampOf(const std::uint64_t* metadata) const {
  if (lease_word::Locked(metadata[0])) return std::nullopt;
  return ReadStamp{.mark = WrittenAt(metadata[0])};
}

Timestamp Sundial::FreeLocks(std::uint64_t* metadata) const {
  metadata[0] = lease_word::Unlocked(metadata[0]);
  return 0;
}

void Sundial::Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const {
  const std::uint64_t valid_to = std::max(ValidTo(metadata[0]), ValidTo(fresh[0]));
  fresh[0] = Lease(std::max(WrittenAt(metadata[0]), WrittenAt(fresh[0])), valid_to);
}

// Decides which tuples that have not begun are locked by their first stage. Returns that stage. If
// it is Lock, it also reads the others. A tuple's lockers are at most all coroutines, and a holder
// whose unlocking is under way.
Stage Sundial::PlanFetch(const Transaction& transaction, std::span<Access* const> fresh) {
  const bool together =
      transaction.LocksAndReads() && transaction.processes() < lease_word::kMostLockers;
  bool locks = false;
  for (Access* const access : fresh) {
    if (!access->begun) {
      access->fetch = together && access->write;
      access->unlocked = !access->fetch;
    }
    locks = locks || access->fetch;
  }
  return locks ? Stage::kLock : Stage::kRead;
}

bool Sundial::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(PlanFetch(transaction, fresh), fresh);
}

bool Sundial::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  // A transaction that fails may still have to finish what it has begun.
  if (!transaction.RunStage(PlanFetch(transaction, fresh), fresh)) return false;
  for (Access* const access : fresh) access->fetch = access->unlocked = false;
  return transaction.RunStage(Stage::kLock, transaction.WritesAmong(fresh));
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

void Sundial::CancelWait(Access& access) const { access.step = kGiveUp; }

void Sundial::Post(Stage stage, Port& port, Access& access) const {
  const Table& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      if (access.unlocked) {
        PostGuardedRead(port, access);
      } else if (access.step == kGiveUp) {
        port.FetchAdd(access, 0, -kOneLocker, &access.old_word);
      } else if (access.fetch) {
        PostEnter(port, access);
      } else {
        port.CompareSwap(access, 0, access.seen[0], access.seen[0] + kOneLocker, &access.old_word);
      }
      break;
    case Stage::kRenew:
      port.CompareSwap(access, 0, Expected(access),
                       Extended(Expected(access), access.commit_timestamp), &access.old_word);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      PostUnlock(port, access, Lease(access.commit_timestamp, access.commit_timestamp));
      break;
    default:
      PostUnlock(port, access, access.seen[0]);
  }
}

Step Sundial::Check(Stage stage, Access& access) const {
  switch (stage) {
    case Stage::kRead:
      return CheckRead(access);
    case Stage::kLock:
      if (access.unlocked) return CheckRead(access);
      if (access.fetch || access.step == kGiveUp) return CheckEnter(access);
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      if (lease_word::Locked(access.old_word)) return Step::Abort(AbortReason::kLocked);
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
      if (lease_word::Locked(word)) return Step::Abort(AbortReason::kLease);
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
