#include "txnlayer/protocol/internal/occ.h"

#include "txnlayer/protocol/internal/occ_steps.h"
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
  // A single record was current when it was read, so there is nothing to validate.
  const auto accesses = transaction.accesses();
  if (accesses.size() == 1 && !accesses[0]->write && !accesses[0]->absent) return true;
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
  occ_steps::Post(stage, port, access);
}

Step Occ::Check(Stage stage, Access& access) const { return occ_steps::Check(stage, access); }

}  // namespace slimgraph::txn
