// How the survivors repair tables, locks and logs after a death.
#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine/engine_thread.h"
#include "txnlayer/replication/replication.h"

namespace slimgraph::txn {

Status Replication::Repair(const std::vector<NodeId>& lost) {
  Cluster& cluster = engine_.cluster();
  for (const NodeId node : lost) SLIM_TRY(cluster.fabric().Fence(node));
  cluster.ContinueWithout(lost);
  engine_.MaybeDieInRepair(1);
  // After this, no operation or message of the dead nodes or of companions is under way.
  SLIM_TRY(engine_.ResetCompanions());
  engine_.MaybeDieInRepair(2);
  for (const NodeId node : lost) {
    if (engine_.view_.Lose(node)) continue;
    return EnvironmentError("a partition is lost with node {}: more replicas are needed", node);
  }
  Timestamp latest = FreeLocks();
  // A record of a dead node that is whole anywhere may belong to a transaction that was
  // acknowledged. So it is carried out everywhere.
  std::vector<std::uint64_t> record;
  repairing_ = true;
  for (NodeId node = 0; node < cluster.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
      const LogRing ring(shape_, memory_.data() + RingAt(node, thread));
      std::uint64_t& applied_up_to = applied_up_to_[IndexOf(node, thread)];
      while (ring.ReadNext(applied_up_to, record)) {
        Apply(record);
        if (!engine_.view().alive(node)) orphans_.insert(record);
      }
    }
  }
  engine_.MaybeDieInRepair(3);
  const Status exchanged = ExchangeOrphans();
  repairing_ = false;
  SLIM_TRY(exchanged);
  engine_.MaybeDieInRepair(4);
  // New transactions get timestamps after all old ones, so they see the latest version of
  // everything.
  for (const auto& orphan : orphans_) latest = std::max(latest, orphan[0]);
  for (const auto& thread : engine_.threads_) latest = std::max(latest, thread->clock.Latest());
  SLIM_ASSIGN(latest, cluster.all().AllMax(latest));
  for (const auto& thread : engine_.threads_) {
    thread->clock.AdvancePast(latest);
    thread->cache.Clear();
    thread->log.MarkEmpty();
  }
  engine_.MaybeDieInRepair(5);
  return cluster.all().Barrier();
}

// Collects the orphans of all nodes, applies them, and has node 0 log them to disk.
Status Replication::ExchangeOrphans() {
  std::vector<std::uint64_t> mine;
  for (const auto& orphan : orphans_) {
    mine.push_back(orphan.size());
    mine.insert(mine.end(), orphan.begin(), orphan.end());
  }
  SLIM_ASSIGN(const auto all, engine_.cluster().all().AllGather(std::as_bytes(std::span(mine))));
  for (const auto& theirs : all) {
    std::vector<std::uint64_t> words(theirs.size() / kWordBytes);
    if (!words.empty()) std::memcpy(words.data(), theirs.data(), theirs.size());
    for (std::size_t at = 0; at < words.size(); at += 1 + words[at]) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(at + 1);
      orphans_.emplace(first, first + static_cast<std::ptrdiff_t>(words[at]));
    }
  }
  for (const auto& orphan : orphans_) Apply(orphan);
  if (engine_.durability() == nullptr || engine_.self() != 0) return {};
  // From here on, transactions may read these writes and become durable before them. So node 0 logs
  // them first.
  CommitLog& log = engine_.durability()->log();
  for (const auto& orphan : orphans_) log.Add(orphan);
  if (!log.Flush()) return EnvironmentError("the log cannot be written");
  return {};
}

// Frees the locks of all tuples of this node. Returns the largest timestamp in their metadata.
Timestamp Replication::FreeLocks() {
  Timestamp latest = 0;
  engine_.ForEachTuple([&](Table& table, std::byte* tuple) {
    // Folds and snapshots may read these words at the same time.
    const MutableTupleView view(table, tuple);
    std::uint64_t words[kMaxMetadataWords];
    view.LoadMetadata(words);
    latest = std::max(latest, engine_.protocol().FreeLocks(words));
    view.StoreMetadata(words);
  });
  return latest;
}

}  // namespace slimgraph::txn
