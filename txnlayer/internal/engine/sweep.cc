// Sweeps: remove all tuples without a record from all tables and copies of all nodes, as a table is
// full. These are tuples of deleted keys and placeholders of keys that were looked up. A table that
// stays nearly full, or in which the same transaction has found no room twice, gets twice the room
// if all nodes have memory for it. A sweep runs between two rounds (quiescence.h), so no
// transaction sees it, and all known locations are forgotten. A transaction that finds no room for
// a tuple asks for a sweep. If the sweep makes no room, the transaction is refused, and the others
// continue.
//
// A later tuple of the same key must not appear older than the removed one. Its count of writes
// continues from the largest count that was removed. So the latest version keeps the largest count
// in logs, on disk and at backups. Protocol::Inherit keeps the order of timestamps.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "txnlayer/internal/engine/engine_thread.h"

namespace slimgraph::txn {
namespace {

// A table of which a sweep leaves more than kMostKept gets more room: twice as much, or what the
// memory allows, but at least one in kLeastGrowth. One of which it leaves less than kFewKept loses
// half of what it has got.
constexpr double kMostKept = 0.75;
constexpr double kFewKept = 0.125;
constexpr std::uint64_t kLeastGrowth = 16;
// After a sweep that has removed less than one in kLeastShare of the tuples of a table that cannot
// grow, none is made for kSweepDelayFactor times as long as that sweep took.
constexpr std::uint64_t kLeastShare = 16;
constexpr std::uint64_t kSweepDelayFactor = 100;

}  // namespace

// What a sweep does to a table, the same on all nodes.
struct Engine::SweepPlan {
  std::uint64_t room = 0;  // of each part
  bool grows = false;
  bool helps = false;  // there is room for more tuples afterwards
  bool last = false;   // it needs room, and will get no more than now
};

// If the last sweep has removed few tuples, the table is full of records, and the next sweep is
// delayed. So inserts without room do not stop all other transactions again and again.
bool Engine::SweepMayHelp(const Table& table) const {
  return table.id() >= no_sweep_before_ns_.size() || NowNs() >= no_sweep_before_ns_[table.id()];
}

// The next sweep shall give the table more room, even if it removes many tuples.
void Engine::AskForRoom(const Table& table) {
  asked_for_room_ |= std::uint64_t{1} << (table.id() % 64);
}

Result<std::vector<Engine::SweepPlan>> Engine::PlanSweep() {
  const std::size_t count = tables_.size();
  // By table. Sums: tuples, those that go, and whether a transaction asks for room. The largest:
  // room, and tuples that a part keeps. The smallest: the room that a node has memory for.
  std::vector<std::uint64_t> sums(3 * count);
  std::vector<std::uint64_t> largest(2 * count);
  std::vector<std::uint64_t> smallest(count);
  const std::uint64_t asked = asked_for_room_.exchange(0);
  for (const auto& table : tables_) {
    const TableId id = table->id();
    for (Rank rank = 0; rank < tables_.replicas(); ++rank) {
      const std::uint64_t kept = CountRecords(*table, rank);
      sums[3 * id] += table->tuples(rank);
      sums[3 * id + 1] += table->tuples(rank) - kept;
      largest[2 * id + 1] = std::max(largest[2 * id + 1], kept);
    }
    sums[3 * id + 2] = asked >> (id % 64) & 1;
    largest[2 * id] = table->room();
    smallest[id] = table->room() + tables_.RoomLeft(*table);
  }
  SLIM_TRY(cluster_.all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  SLIM_TRY(cluster_.all().AllReduce(std::span<std::uint64_t>(largest),
                                    [](auto a, auto b) { return std::max(a, b); }));
  SLIM_TRY(cluster_.all().AllReduce(std::span<std::uint64_t>(smallest),
                                    [](auto a, auto b) { return std::min(a, b); }));
  std::vector<SweepPlan> plans(count);
  for (const auto& table : tables_) {
    const TableId id = table->id();
    SweepPlan& plan = plans[id];
    const std::uint64_t room = largest[2 * id];
    const auto kept = static_cast<double>(largest[2 * id + 1]);
    const std::uint64_t more = std::min(2 * room, smallest[id]);
    const bool wants_more = sums[3 * id + 2] > 0 || kept > kMostKept * static_cast<double>(room);
    plan.grows = wants_more && more >= room + room / kLeastGrowth + 1;
    const bool removes_many = sums[3 * id + 1] * kLeastShare >= sums[3 * id];
    plan.helps = plan.grows || removes_many || !wants_more;
    plan.room = plan.grows ? more : room;
    const bool may_grow_again = smallest[id] > plan.room + plan.room / kLeastGrowth;
    plan.last = (plan.grows || sums[3 * id + 2] > 0) && !may_grow_again;
    if (!wants_more && kept < kFewKept * static_cast<double>(room)) {
      plan.room = std::max(room / 2, table->spec().tuples_per_node);
    }
  }
  return plans;
}

// If a node dies meanwhile, the repair sweeps again: some nodes have swept their tables by then,
// and others have not. A node that notices nothing has passed the last barrier, so all have.
Status Engine::Sweep() {
  const auto sweep = [this]() -> Status {
    SLIM_TRY(ResetCompanions());
    if (replication_) replication_->ApplyAllLogs();
    SLIM_TRY(SweepTables());
    // No node reads a table of another that is still being swept.
    return cluster_.all().Barrier();
  };
  Status swept = sweep();
  sweep_interrupted_ = !swept;
  quiescence_.MarkDone(Quiescence::kSweep);
  if (swept || (replication_ && AnotherHasDied())) return {};
  return swept;
}

Status Engine::SweepTables() {
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(const std::vector<SweepPlan> plans, PlanSweep());
  if (timed()) {
    // Read-only transactions that begin after this must not ask for a time before the removals.
    SLIM_ASSIGN(const Timestamp now, cluster_.all().AllMax(latest()));
    AdvanceClocksPast(now);
  }
  {
    // Snapshots and folds read tables under the shared lock. They end without waiting for
    // transactions.
    const std::lock_guard lock(tuple_positions_);
    for (const auto& table : tables_) {
      if (table->grows()) table->SetRoom(plans[table->id()].room);
      for (Rank rank = 0; rank < tables_.replicas(); ++rank) swept_ += SweepPart(*table, rank);
    }
  }
  for (const auto& thread : threads_) {
    thread->cache.Clear();
    thread->log.MarkEmpty();
  }
  TellLastRoom(plans);
  const std::uint64_t end_ns = NowNs();
  no_sweep_before_ns_.resize(tables_.size());
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    growths_ += plans[table].grows ? 1 : 0;
    no_sweep_before_ns_[table] =
        plans[table].helps ? 0 : end_ns + kSweepDelayFactor * (end_ns - start_ns);
  }
  return {};
}

void Engine::TellLastRoom(const std::vector<SweepPlan>& plans) {
  told_last_room_.resize(tables_.size());
  for (const auto& table : tables_) {
    const SweepPlan& plan = plans[table->id()];
    if (!plan.last || told_last_room_[table->id()] || !options_.on_last_room || self() != 0)
      continue;
    told_last_room_[table->id()] = true;
    options_.on_last_room(
        fmt::format("table {} has room for {} records on each node, and no memory to grow further: "
                    "transactions that need more will be refused",
                    table->spec().name, FormatCount(plan.room)));
  }
}

std::uint64_t Engine::CountRecords(const Table& table, Rank rank) const {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
    const TupleView tuple(TupleAt(table, rank, i));
    count += RecordOfVersion(protocol().LatestVersion(tuple)) != nullptr ? 1 : 0;
  }
  return count;
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
  return {ErrorKind::kInput,
          "a table is full: fewer inserts, or nodes with more memory, are needed"};
}

}  // namespace slimgraph::txn
