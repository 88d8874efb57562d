#include "txnlayer/protocol/internal/timestamp_order.h"

#include <algorithm>

#include "txnlayer/protocol/internal/to_steps.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kTimestampOrderStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit,
                                           Stage::kRelease};

// Those that are only read, and those whose read has begun.
std::vector<Access*>& ReadsAmong(Transaction& transaction, std::span<Access* const> fresh) {
  std::vector<Access*>& reads = transaction.Scratch();
  std::copy_if(fresh.begin(), fresh.end(), std::back_inserter(reads),
               [](const Access* access) { return !access->write || access->begun; });
  return reads;
}

// Makes their writes pending, and reads the records that have not been read.
bool MakePending(Transaction& transaction, std::span<Access* const> accesses) {
  const std::span<Access* const> writes = transaction.WritesAmong(accesses);
  for (Access* const access : writes) access->fetch = !access->has_image;
  return transaction.RunStage(Stage::kLock, writes);
}

}  // namespace

std::span<const Stage> TimestampOrder::stages() const { return kTimestampOrderStages; }

TupleShape TimestampOrder::shape() const {
  TupleShape shape{.metadata_words = to_steps::kWords};
  shape.fresh[to_steps::kWrittenWord] = to_steps::kBeforeAll;
  return shape;
}

// A record is marked before it is changed.
std::optional<Protocol::ReadStamp> TimestampOrder::StampOf(const std::uint64_t* metadata) const {
  if (metadata[to_steps::kPendingWord] != 0 ||
      metadata[to_steps::kWrittenWord] == to_steps::kBeingWritten) {
    return std::nullopt;
  }
  return ReadStamp{.mark = metadata[to_steps::kWrittenWord]};
}

// Of a commit that was half carried out, a log has the record.
Timestamp TimestampOrder::FreeLocks(std::uint64_t* metadata) const {
  if (metadata[to_steps::kWrittenWord] == to_steps::kBeingWritten) {
    metadata[to_steps::kWrittenWord] = metadata[to_steps::kPendingWord];
  }
  metadata[to_steps::kPendingWord] = 0;
  return std::max(metadata[to_steps::kReadWord], metadata[to_steps::kWrittenWord]);
}

// The removed tuple's absence was written and read at these timestamps.
void TimestampOrder::Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const {
  for (const std::size_t word : {to_steps::kReadWord, to_steps::kWrittenWord}) {
    fresh[word] = std::max(fresh[word], metadata[word]);
  }
}

// All tuples that are started must be in the same stage, so those to be written are read first,
// too.
bool TimestampOrder::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(Stage::kRead, fresh);
}

bool TimestampOrder::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.RunStage(Stage::kRead, ReadsAmong(transaction, fresh)) &&
         MakePending(transaction, fresh);
}

// Tuples that were first read and then written have no pending writes yet.
bool TimestampOrder::Acquire(Transaction& transaction) const {
  return MakePending(transaction, transaction.accesses());
}

bool TimestampOrder::Prepare(Transaction&) const { return true; }

void TimestampOrder::Install(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kCommit, transaction.writes());
}

void TimestampOrder::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void TimestampOrder::Post(Stage stage, Port& port, Access& access) const {
  to_steps::Post(stage, port, access);
}

Step TimestampOrder::Check(Stage stage, Access& access) const {
  return to_steps::Check(stage, access);
}

}  // namespace slimgraph::txn
