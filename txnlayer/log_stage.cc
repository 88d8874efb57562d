// The stage Log: a transaction that will commit is made known to backups, before anything of it is
// installed and before anybody is told. (CALVIN's, which its inputs decide, is afterwards.)
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kLookForRoomNs = 20'000;

// When it was, how many writes; for each, key, table and length, and the version.
std::vector<std::uint64_t> RecordOf(Timestamp timestamp, std::span<Access* const> writes) {
  std::vector<std::uint64_t> record{timestamp, writes.size()};
  for (const Access* const access : writes) {
    const std::uint64_t words = access->table->version_bytes() / kWordBytes;
    record.push_back(access->key);
    record.push_back(std::uint64_t{access->table->id()} << 32 | words);
    record.resize(record.size() + words);
    std::memcpy(&record[record.size() - words], access->version_bytes(), words * kWordBytes);
  }
  return record;
}

}  // namespace

// The backups of all that is written, for their copies' sake. And as many nodes beside this one as
// may still die without a loss: if they all do, this one lives and installs what it has begun; else
// one of them knows.
std::vector<NodeId> Transaction::Backups(std::span<Access* const> writes) const {
  const View& view = engine_.view();
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
  const std::span<Access* const> written = writes();
  if (written.empty()) return true;
  const std::uint64_t start_ns = NowNs();
  task_.worker().endpoint().SetStage(TrafficStage(Stage::kLog));
  std::vector<std::uint64_t>& record = frame_->record;
  record = RecordOf(timestamp_, written);
  if (record.size() + 2 > LogRing::kMostRecordWords) {
    task_.worker().Fail(
        {ErrorKind::kUsage,
         fmt::format("a transaction writes {} bytes, and a log's record holds {}",
                     record.size() * kWordBytes, (LogRing::kMostRecordWords - 2) * kWordBytes)});
    return false;
  }
  const std::vector<NodeId> backups = Backups(written);
  frame_->logged = std::make_shared<LogEntry>();
  for (const NodeId node : backups) {
    while (!thread_.log.HasRoom(node, record.size() + 2)) task_.Sleep(kLookForRoomNs);
    thread_.log.Write(node, record, one_sided(Stage::kLog), frame_->logged,
                      frame_->records.emplace_back(), frame_->pending);
    if (!engine_.options().outstanding) task_.Await(frame_->pending);
  }
  if (engine_.protocol().logs_first()) task_.Await(frame_->pending);
  NoteTime(Stage::kLog, start_ns);
  return true;
}

}  // namespace slimgraph::txn
