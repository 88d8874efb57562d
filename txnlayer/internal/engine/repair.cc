// How the survivors repair tables, locks and logs after a death.
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sync.h"
#include "txnlayer/internal/engine/engine_thread.h"

namespace slimgraph::txn {
namespace {

constexpr std::chrono::milliseconds kDeathPollInterval{1};

// Frees the locks of all tuples of this node. Returns the largest timestamp in their metadata.
Timestamp FreeLocks(const Tables& tables) {
  Timestamp latest = 0;
  tables.ForEachTuple([&](Table& table, std::byte* tuple) {
    // Folds and snapshots may read these words at the same time.
    const MutableTupleView view(table, tuple);
    std::uint64_t words[kMaxMetadataWords];
    view.LoadMetadata(words);
    latest = std::max(latest, tables.protocol().FreeLocks(words));
    view.StoreMetadata(words);
  });
  return latest;
}

// Survivors may read the orphans' writes and become durable before them. So node 0 logs them first.
Status LogOrphans(CommitLog& log, const Replication& replication) {
  for (const Record& orphan : replication.orphans()) log.Add(orphan);
  if (!log.Flush()) return EnvironmentError("the log cannot be written");
  return {};
}

}  // namespace

Status Engine::Repair() {
  const std::uint64_t start_ns = NowNs();
  Status repaired = RepairAfter(quiescence_.newly_dead());
  repair_s_ += SecondsSince(start_ns);
  if (repaired) {
    sweep_interrupted_ = false;
    quiescence_.MarkDone(Quiescence::kDeath);
  } else if (!AnotherHasDied()) {
    return repaired;
  }
  return {};
}

// Collective among the living nodes, while no transaction runs anywhere. Afterwards all that was
// committed is in every partition and copy, all locks are free, and all logs are empty. `lost` are
// the nodes that have died since the last repair; the view does not know of them yet. If the repair
// fails because another node has died, it is repeated with that node among the lost. Some nodes may
// have completed it before. A sweep that the death has interrupted is repeated too.
Status Engine::RepairAfter(const std::vector<NodeId>& lost) {
  for (const NodeId node : lost) SLIM_TRY(cluster_.fabric().Fence(node));
  cluster_.ContinueWithout(lost);
  MaybeDieInRepair(1);
  // After this, no operation or message of the dead nodes or of companions is under way.
  SLIM_TRY(ResetCompanions());
  MaybeDieInRepair(2);
  {
    const std::lock_guard lock(stop_mutex_);
    for (const NodeId node : lost) {
      if (tables_.Lose(node)) continue;
      return EnvironmentError("a partition is lost with node {}: more replicas are needed", node);
    }
  }
  Timestamp latest = FreeLocks(tables_);
  replication_->ApplyLogsAfterDeaths();
  MaybeDieInRepair(3);
  SLIM_TRY(replication_->ExchangeOrphans());
  if (durability_ && self() == 0) SLIM_TRY(LogOrphans(durability_->log(), *replication_));
  MaybeDieInRepair(4);
  // New transactions get timestamps after all old ones, so they see the latest version of
  // everything.
  for (const Record& orphan : replication_->orphans()) {
    if (!timed() || protocol().commits_at_timestamp()) latest = std::max(latest, orphan[0]);
  }
  for (const auto& thread : threads_) latest = std::max(latest, thread->clock.Latest());
  SLIM_ASSIGN(latest, cluster_.all().AllMax(latest));
  for (const auto& thread : threads_) {
    thread->clock.AdvancePast(latest);
    thread->cache.Clear();
    thread->log.MarkEmpty();
  }
  MaybeDieInRepair(5);
  SLIM_ASSIGN(const int again, cluster_.all().AllMax(sweep_interrupted_ ? 1 : 0));
  if (again != 0) {
    sweep_interrupted_ = true;
    SLIM_TRY(SweepTables());
  }
  return cluster_.all().Barrier();
}

// Whether another death explains that the survivors could not finish a collective step. Waits for
// the report of that death. In the next round nothing begins: all nodes, also those that noticed
// nothing, come to rest at once and then repeat the whole repair.
bool Engine::AnotherHasDied() {
  const std::vector<NodeId>& members = cluster_.all().members();
  if (std::all_of(members.begin(), members.end(),
                  [&](NodeId node) { return cluster_.job().alive(node); })) {
    return false;
  }
  const std::uint64_t deadline_ns = NowNs() + kDeathNoticeNs;
  while (!quiescence_.wanted_again(Quiescence::kDeath) && NowNs() < deadline_ns) {
    SleepFor(kDeathPollInterval);
  }
  return quiescence_.wanted_again(Quiescence::kDeath);
}

void Engine::MaybeDieInRepair(std::uint32_t step) {
  const DeathInRepair& death = options_.death_in_repair;
  if (death.node == self() && death.step == step) KillProcess();
}

}  // namespace slimgraph::txn
