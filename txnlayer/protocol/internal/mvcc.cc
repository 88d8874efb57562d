#include "txnlayer/protocol/internal/mvcc.h"

#include <algorithm>

#include "txnlayer/protocol/internal/mvcc_steps.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr Stage kMvccStages[] = {Stage::kRead, Stage::kLock, Stage::kLog, Stage::kCommit,
                                 Stage::kRelease};

using namespace mvcc_steps;

}  // namespace

std::span<const Stage> Mvcc::stages() const { return kMvccStages; }

TupleShape Mvcc::shape() const {
  const std::uint32_t links = timestamps_ == Timestamps::kNone ? 0 : 1;
  TupleShape shape{.metadata_words = static_cast<std::uint32_t>(kWords) + links,
                   .versions = kVersions,
                   .timestamps = timestamps_};
  shape.fresh[kFirstWriteWord] = kBeforeAll;
  return shape;
}

ReplacedVersion Mvcc::Replaces(const Access& access) const { return ReplacedBy(access); }

std::size_t Mvcc::Latest(const std::uint64_t* metadata) const {
  const auto* const first = metadata + kFirstWriteWord;
  return static_cast<std::size_t>(std::max_element(first, first + kVersions) - first);
}

std::optional<Protocol::ReadStamp> Mvcc::StampOf(const std::uint64_t* metadata) const {
  if (metadata[kLockWord] != 0) return std::nullopt;
  const auto version = VersionFor(metadata, kBeingWritten - 1);
  if (!version) return std::nullopt;
  return ReadStamp{*version, metadata[kFirstWriteWord + *version]};
}

// A version that was half replaced becomes empty.
Timestamp Mvcc::FreeLocks(std::uint64_t* metadata) const {
  std::replace(metadata + kFirstWriteWord, metadata + kWords, kBeingWritten, std::uint64_t{0});
  metadata[kLockWord] = 0;
  return *std::max_element(metadata, metadata + kWords);
}

// The removed tuple's absence was written and read at these timestamps.
void Mvcc::Inherit(const std::uint64_t* metadata, std::uint64_t* fresh) const {
  fresh[kReadWord] = std::max(fresh[kReadWord], metadata[kReadWord]);
  fresh[kFirstWriteWord] =
      std::max(fresh[kFirstWriteWord], metadata[kFirstWriteWord + Latest(metadata)]);
}

bool Mvcc::StartFetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.StartStage(Stage::kRead, fresh);
}

bool Mvcc::Fetch(Transaction& transaction, std::span<Access* const> fresh) const {
  return transaction.RunStage(Stage::kRead, fresh);
}

bool Mvcc::Prepare(Transaction& transaction) const {
  if (!transaction.RunStage(Stage::kLock, transaction.writes())) return false;
  return timestamps_ == Timestamps::kNone || transaction.CommitAtTimestamp();
}

void Mvcc::Install(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kCommit, transaction.writes());
}

void Mvcc::Release(Transaction& transaction) const {
  transaction.RunLastStage(Stage::kRelease, transaction.locked());
}

void Mvcc::Post(Stage stage, Port& port, Access& access) const {
  mvcc_steps::Post(stage, port, access);
}

Step Mvcc::Check(Stage stage, Access& access) const { return mvcc_steps::Check(stage, access); }

}  // namespace slimgraph::txn
