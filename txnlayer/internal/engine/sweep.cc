// Sweeps: remove all tuples without a record from all tables and copies of all nodes, as a table is
// full. These are tuples of deleted keys and placeholders of keys that were looked up. A sweep runs
// between two rounds (quiescence.h), so no transaction sees it, and all known locations are
// forgotten. A transaction that finds no room for a tuple asks for a sweep. If the sweep makes no
// room, the transaction is refused, and the others continue.
//
// A later tuple of the same key must not appear older than the removed one. Its count of writes
// continues from the largest count that was removed. So the latest version keeps the largest count
// in logs, on disk and at backups. Protocol::Inherit keeps the order of timestamps.
#include <algorithm>
#include <functional>

#include "slimgraph/base/clock.h"
#include "txnlayer/internal/engine/engine_thread.h"

namespace slimgraph::txn {
namespace {

// A sweep has helped a table if it has removed at least one in kLeastShare of its tuples. After a
// sweep that did not help, none is made for kSweepDelayFactor times as long as that sweep took.
constexpr std::uint64_t kLeastShare = 16;
constexpr std::uint64_t kSweepDelayFactor = 100;

}  // namespace

// If the last sweep has removed few tuples, the table is full of records, and the next sweep is
// delayed. So inserts without room do not stop all other transactions again and again.
bool Engine::SweepMayHelp(const Table& table) const {
  return table.id() >= no_sweep_before_ns_.size() || NowNs() >= no_sweep_before_ns_[table.id()];
}

Status Engine::Sweep() {
  const std::uint64_t start_ns = NowNs();
  // Of each table: tuples before, tuples removed.
  std::vector<std::uint64_t> counts(2 * tables_.size());
  SLIM_TRY(ResetCompanions());
  if (replication_) replication_->ApplyAllLogs();
  {
    // Snapshots and folds read tables under the shared lock. They end without waiting for
    // transactions.
    const std::lock_guard lock(tuple_positions_);
    for (const auto& table : tables_) {
      for (Rank rank = 0; rank < tables_.replicas(); ++rank) {
        counts[2 * table->id()] += table->tuples(rank);
        counts[2 * table->id() + 1] += SweepPart(*table, rank);
      }
    }
  }
  for (const auto& thread : threads_) {
    thread->cache.Clear();
    thread->log.MarkEmpty();
  }
  for (const auto& table : tables_) swept_ += counts[2 * table->id() + 1];
  SLIM_TRY(cluster_.all().AllReduce(std::span<std::uint64_t>(counts), std::plus<>()));
  const std::uint64_t end_ns = NowNs();
  no_sweep_before_ns_.resize(tables_.size());
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    const bool helped = counts[2 * table + 1] * kLeastShare >= counts[2 * table];
    no_sweep_before_ns_[table] = helped ? 0 : end_ns + kSweepDelayFactor * (end_ns - start_ns);
  }
  quiescence_.MarkDone(Quiescence::kSweep);
  return {};
}

std::uint64_t Engine::SweepPart(Table& table, Rank rank) {
  std::uint64_t fresh[kMaxMetadataWords];
  std::copy_n(table.fresh(rank), kMaxMetadataWords, fresh);
  std::uint64_t fresh_word = table.fresh_word(rank);
  for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
    const TupleView tuple(TupleAt(table, rank, i));
    const std::byte* const version = protocol().LatestVersion(tuple);
    if (RecordOfVersion(version) != nullptr) continue;
    fresh_word = std::max(fresh_word, WordOfVersion(version));
    protocol().Inherit(tuple.metadata(), fresh);
  }
  const auto keep = [&](const std::byte* tuple) {
    return RecordOfVersion(protocol().LatestVersion(TupleView(table, tuple))) != nullptr;
  };
  return table.Sweep(rank, keep, fresh, fresh_word);
}

Error TableFullError() {
  return {ErrorKind::kInput, "a table is full: fewer inserts, or more tuples per node, are needed"};
}

}  // namespace slimgraph::txn
