#include "txnlayer/protocol/internal/occ.h"

#include "txnlayer/protocol/internal/occ_steps.h"
#include "txnlayer/protocol/internal/times.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kOccStages[] = {Stage::kRead, Stage::kLock,   Stage::kValidate,
                                Stage::kLog,  Stage::kCommit, Stage::kRelease};

using namespace sequence_word;

}  // namespace

TupleShape Occ::shape() const {
  TupleShape shape = times::ShapeOf(1, timestamps_);
  shape.fresh[0] = kFirst;
  return shape;
}

std::span<const Stage> Occ::stages() const { return kOccStages; }

bool Occ::LocksFree(const std::uint64_t* metadata) const { return !Locked(metadata[0]); }

std::optional<Protocol::ReadStamp> Occ::StampOf(const std::uint64_t* metadata) const {
  if (Locked(metadata[0])) return std::nullopt;
  return ReadStamp{.mark = metadata[0]};
}

Timestamp Occ::FreeLocks(std::uint64_t* metadata) const {
  metadata[0] = Unlocked(metadata[0]);
  return times::Latest(metadata, shape().times_at);
}

bool Occ::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(Stage::kRead, fresh);
}

bool Occ::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.RunStage(Stage::kRead, fresh);
}

bool Occ::Prepare(Transaction& transaction) const {
  // A single record was current when it was read, so there is nothing to validate.
  const auto accesses = transaction.accesses();
  if (accesses.size() == 1 && !accesses[0]->write && !accesses[0]->absent) return true;
  if (!transaction.RunStage(Stage::kLock, transaction.writes())) return false;
  if (timed() && !transaction.ChooseCommitTime()) return false;
  return transaction.RunStage(Stage::kValidate, transaction.reads());
}

void Occ::Install(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kCommit, transaction.writes());
}

void Occ::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void Occ::Post(Stage stage, Port& port, Access& access) const {
  if (timed()) return PostTimed(stage, port, access);
  occ_steps::Post(stage, port, access);
}

void Occ::PostTimed(Stage stage, Port& port, Access& access) const {
  if (stage == Stage::kCommit) {
    times::PostReplace(port, access);
    return occ_steps::PostUnlock(port, access, NextSequence(access.seen[0]));
  }
  if (stage == Stage::kValidate && marks()) PostMark(port, access);
  occ_steps::Post(stage, port, access);
  if (stage == Stage::kLock) times::PostRead(port, access);
}

Step Occ::Check(Stage stage, Access& access) const {
  if (!timed()) return occ_steps::Check(stage, access);
  return CheckTimed(stage, access);
}

Step Occ::CheckTimed(Stage stage, Access& access) const {
  const Step step = occ_steps::Check(stage, access);
  if (stage == Stage::kRead && !access.absent) access.TakeTimes();
  if (!marks() || stage != Stage::kValidate || step.kind != Step::kDone) return step;
  return HasMarked(access) ? step : Step::More();
}

void Occ::PostMark(Port& port, Access& access) {
  const Table& table = *access.table;
  const std::uint64_t at = access.absent ? table.AbsenceAt(access.key) + kWordBytes - access.offset
                                         : table.time_at(TimeWord::kMarked);
  const Timestamp found = access.time(TimeWord::kMarked);
  access.old_word = found;
  if (found >= access.commit_timestamp) return;
  port.CompareSwap(access, at, found, access.commit_timestamp, &access.old_word);
}

// Whether the mark is there; otherwise notes which word is to be swapped.
bool Occ::HasMarked(Access& access) {
  Timestamp& found = access.time(TimeWord::kMarked);
  if (access.old_word == found) return true;
  found = access.old_word;
  return found >= access.commit_timestamp;
}

}  // namespace slimgraph::txn
