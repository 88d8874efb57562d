#include "txnlayer/protocol/internal/occ.h"

#include <functional>

#include "txnlayer/protocol/internal/guarded_read.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kOccStages[] = {Stage::kRead, Stage::kLock,   Stage::kValidate,
                                Stage::kLog,  Stage::kCommit, Stage::kRelease};

using namespace sequence_word;

}  // namespace

TupleShape Occ::shape() const { return {.metadata_words = 1, .fresh = {kFirst}}; }

std::span<const Stage> Occ::stages() const { return kOccStages; }

bool Occ::LocksFree(const std::uint64_t* metadata) const { return !Locked(metadata[0]); }

std::optional<Protocol::ReadStamp> Occ::StampOf(const std::uint64_t* metadata) const {
  if (Locked(metadata[0])) return std::nullopt;
  return ReadStamp{.mark = metadata[0]};
}

Timestamp Occ::FreeLocks(std::uint64_t* metadata) const {
  metadata[0] = Unlocked(metadata[0]);
  return 0;
}

bool Occ::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(Stage::kRead, fresh);
}

bool Occ::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.RunStage(Stage::kRead, fresh);
}

bool Occ::Prepare(Transaction& transaction) const {
  return transaction.RunStage(Stage::kLock, transaction.writes()) &&
         transaction.RunStage(Stage::kValidate, transaction.reads());
}

void Occ::Install(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kCommit, transaction.writes());
}

void Occ::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void Occ::Post(Stage stage, Port& port, Access& access) const {
  const Table& table = *access.table;
  switch (stage) {
    case Stage::kRead:
      if (!access.absent) PostGuardedRead(port, access);
      break;
    case Stage::kLock:
      port.CompareSwap(access, 0, access.seen[0], LockedBy(access.seen[0], access.owner),
                       &access.old_word);
      break;
    case Stage::kValidate:
      port.Read(access, 0, kWordBytes, &access.reread[0]);
      break;
    case Stage::kCommit:
      port.Write(access, table.version_at(0), table.version_bytes(), access.version_bytes());
      access.put[0] = NextSequence(access.seen[0]);
      port.Unlock(access, 0, LockedBy(access.seen[0], access.owner), access.put[0]);
      break;
    default:
      access.put[0] = access.seen[0];
      port.Unlock(access, 0, LockedBy(access.seen[0], access.owner), access.put[0]);
  }
}

Step Occ::Check(Stage stage, Access& access) const {
  switch (stage) {
    case Stage::kRead:
      if (access.absent) return Step::Done();
      return ReadIsWhole(access, std::identity()) ? Step::Done() : Step::Busy();
    case Stage::kLock:
      if (access.old_word == access.seen[0]) {
        access.locked = true;
        return Step::Done();
      }
      return Step::Abort(Locked(access.old_word) ? AbortReason::kLocked : AbortReason::kChanged);
    case Stage::kValidate:
      if (access.reread[0] == access.seen[0]) return Step::Done();
      return Step::Abort(Locked(access.reread[0]) ? AbortReason::kLocked : AbortReason::kChanged);
    default:
      access.locked = false;
      return Step::Done();
  }
}

}  // namespace slimgraph::txn
