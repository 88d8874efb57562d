#include "txnlayer/protocol/occ.h"

#include <functional>

#include "txnlayer/protocol/guarded_read.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kOccStages[] = {Stage::kRead, Stage::kLock,   Stage::kValidate,
                                Stage::kLog,  Stage::kCommit, Stage::kRelease};

// The word: the owner's part of the holder's timestamp, plus one; then the sequence.
constexpr unsigned kSequenceBits = 64 - kOwnerBits - 1;
constexpr std::uint64_t kSequenceMask = (std::uint64_t{1} << kSequenceBits) - 1;
constexpr std::uint64_t kOwnerMask = (std::uint64_t{1} << kOwnerBits) - 1;

bool Locked(std::uint64_t word) { return (word & ~kSequenceMask) != 0; }
std::uint64_t LockedBy(std::uint64_t word, Timestamp timestamp) {
  return word | (((timestamp & kOwnerMask) + 1) << kSequenceBits);
}
std::uint64_t Next(std::uint64_t word) { return (word + 1) & kSequenceMask; }

}  // namespace

std::span<const Stage> Occ::stages() const { return kOccStages; }

bool Occ::Idle(const std::uint64_t* metadata) const { return !Locked(metadata[0]); }

std::optional<Protocol::Look> Occ::LookAt(const std::uint64_t* metadata) const {
  if (Locked(metadata[0])) return std::nullopt;
  return Look{.mark = metadata[0]};
}

Timestamp Occ::Free(std::uint64_t* metadata) const {
  metadata[0] &= kSequenceMask;
  return 0;
}

bool Occ::Ask(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.Start(Stage::kRead, fresh);
}

bool Occ::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.Run(Stage::kRead, fresh);
}

bool Occ::Prepare(Transaction& transaction) const {
  return transaction.Run(Stage::kLock, transaction.writes()) &&
         transaction.Run(Stage::kValidate, transaction.reads());
}

void Occ::Install(Transaction& transaction) const {
  transaction.RunLast(Stage::kCommit, transaction.writes());
}

void Occ::Release(Transaction& transaction) const {
  transaction.RunLast(Stage::kRelease, transaction.locked());
}

void Occ::Post(Stage stage, Port& port, Access& access) const {
  const Table& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      if (!access.absent) PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      port.CompareSwap(access, 0, access.seen[0], LockedBy(access.seen[0], access.timestamp),
                       &access.old_word);
      break;
    case Stage::kValidate:
      port.Read(access, 0, kWordBytes, &access.again[0]);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      access.put[0] = Next(access.seen[0]);
      port.Unlock(access, 0, LockedBy(access.seen[0], access.timestamp), access.put[0]);
      break;
    default:
      access.put[0] = access.seen[0];
      port.Unlock(access, 0, LockedBy(access.seen[0], access.timestamp), access.put[0]);
  }
}

Step Occ::Check(Stage stage, Access& access) const {
  switch (stage) {
    case Stage::kRead:
      if (access.absent) return Step::Done();
      return ReadIsWhole(access, Locked, std::identity()) ? Step::Done() : Step::Busy();
    case Stage::kLock:
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      return Step::Abort(Locked(access.old_word) ? AbortReason::kLocked : AbortReason::kChanged);
    case Stage::kValidate:
      if (access.again[0] == access.seen[0]) return Step::Done();
      return Step::Abort(Locked(access.again[0]) ? AbortReason::kLocked : AbortReason::kChanged);
    default:
      access.locked = false;
      return Step::Done();
  }
}

}  // namespace slimgraph::txn
