// The stage Log: writes a transaction's record to its backups and to disk. It ends before any write
// is installed and before the commit is acknowledged.
#include <algorithm>

#include "slimgraph/base/ticks.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kRoomPollNs = 20'000;

}  // namespace

// The nodes that get a transaction's log record. First, the backups of all written tuples. Then
// further nodes, until as many nodes besides this one have the record as may still die without a
// loss. If all of those die, this node lives and installs what it has begun. Otherwise one of them
// has the record.
std::vector<NodeId> Transaction::Backups(std::span<Access* const> writes) const {
  const View& view = engine_.tables().view();
  std::vector<NodeId> backups;
  const auto add = [&](NodeId node) {
    if (std::find(backups.begin(), backups.end(), node) == backups.end()) backups.push_back(node);
  };
  for (const Access* const access : writes) {
    const NodeId partition = access->table->Home(access->key);
    for (Rank rank = 0; rank < engine_.options().replicas; ++rank) {
      const NodeId node = (partition + rank) % view.nodes();
      if (view.alive(node) && node != access->home) add(node);
    }
  }
  const auto others = [&] {
    return backups.size() -
           static_cast<std::size_t>(std::count(backups.begin(), backups.end(), engine_.self()));
  };
  for (NodeId step = 1; step < view.nodes() && others() < view.spare(); ++step) {
    const NodeId node = (engine_.self() + step) % view.nodes();
    if (view.alive(node)) add(node);
  }
  return backups;
}

bool Transaction::Log() {
  frame_->record.clear();
  const bool tells = engine_.replication() != nullptr;
  const bool keeps = engine_.durability() != nullptr;
  if (!tells && !keeps) return true;
  const std::span<Access* const> written = writes();
  if (written.empty()) return true;
  const std::uint64_t start = Ticks();
  Record& record = frame_->record;
  BeginRecord(record, timestamp_);
  const auto add_writes = [&](bool derived) {
    for (const Access* const access : written) {
      if (access->table->spec().derived != derived) continue;
      AddWrite(record, *access->table, access->key, access->version_bytes());
    }
  };
  add_writes(/*derived=*/false);
  const std::size_t words_kept = record.size();
  const std::uint64_t writes_kept = record[1];
  if (tells) add_writes(/*derived=*/true);
  // Backups come before the disk. If a record is on a disk whose node dies, its backups then carry
  // it out.
  if (tells && !LogAtBackups()) return false;
  record.resize(words_kept);
  record[1] = writes_kept;
  if (keeps && engine_.durability()->ledger() != nullptr) {
    if (!LogToLedger()) return false;
  } else if (keeps) {
    LogToDisk();
  }
  NoteTime(Stage::kLog, start);
  return true;
}

void Transaction::LogToDisk() {
  CommitLog& log = engine_.durability()->log();
  thread_.commit_waits.Await(task_, log, log.Add(frame_->record));
}

bool Transaction::LogToLedger() {
  task_.worker().endpoint().SetStage(TrafficStage(Stage::kLog));
  LedgerWriter& ledger = thread_.ledger;
  const Record& record = frame_->record;
  if (record.size() > ledger.most_record_words()) {
    SetAbortReason(AbortReason::kTooLarge);
    return false;
  }
  while (!ledger.HasRoom(record.size())) {
    AwaitEndIfLedgerFails();
    task_.Sleep(kRoomPollNs);
  }
  LedgerWriter::Outgoing& outgoing = frame_->in_ledger;
  const Batched batched = engine_.options().outstanding ? Batched::kYes : Batched::kNo;
  ledger.Write(record, engine_.durability()->generation(), batched, outgoing, frame_->pending);
  task_.Await(frame_->pending);
  AwaitEndIfLedgerFails();
  ledger.NoteDurable(outgoing);
  return true;
}

// The ledger may have the record. So the transaction keeps its locks until the job has ended.
void Transaction::AwaitEndIfLedgerFails() {
  const bool failed = task_.worker().failed();
  if (!failed && !engine_.durability()->stopped()) return;
  if (failed) {
    engine_.FailJob(
        {ErrorKind::kEnvironment, "commits cannot be written to another node's memory"});
  }
  Pending never{.left = 1};
  task_.Await(never);
}

bool Transaction::LogAtBackups() {
  task_.worker().endpoint().SetStage(TrafficStage(Stage::kLog));
  const Record& record = frame_->record;
  const std::uint64_t most_words = LogShape(engine_.options().log_bytes).most_record_words();
  if (record.size() + 2 > most_words) {
    SetAbortReason(AbortReason::kTooLarge);
    return false;
  }
  stages_.Set(Stage::kLog, thread_.log.BeginRecord(one_sided(Stage::kLog)));
  const std::vector<NodeId> backups = Backups(writes());
  frame_->logged = std::make_shared<LogEntry>();
  for (const NodeId node : backups) {
    while (!thread_.log.HasRoom(node, record.size() + 2)) task_.Sleep(kRoomPollNs);
    thread_.log.Write(node, record, one_sided(Stage::kLog), frame_->logged,
                      frame_->records.emplace_back(), frame_->pending);
    if (!engine_.options().outstanding) task_.Await(frame_->pending);
  }
  task_.Await(frame_->pending);
  thread_.log.EndRecord();
  return true;
}

}  // namespace slimgraph::txn
