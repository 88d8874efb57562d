// How the survivors of a death put everything in order.
#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/replication/replication.h"

namespace slimgraph::txn {

Status Replication::Repair(const std::vector<NodeId>& lost) {
  Cluster& cluster = engine_.cluster();
  for (const NodeId node : lost) SLIM_TRY(cluster.fabric().Fence(node));
  cluster.GoOnWithout(lost);
  engine_.RepairBoundary(1);
  // Behind this, nothing of the dead is on its way to anybody, and nothing of companions.
  SLIM_TRY(engine_.Quiesce());
  engine_.RepairBoundary(2);
  for (const NodeId node : lost) {
    if (engine_.view_.Lose(node)) continue;
    return EnvironmentError("a partition is lost with node {}: more replicas are needed", node);
  }
  Timestamp latest = FreeLocks();
  // Of the dead, whatever record is whole anywhere is of a transaction that may have been reported;
  // so it is carried out everywhere.
  std::vector<std::uint64_t> record;
  repairing_ = true;
  for (NodeId node = 0; node < cluster.topology().nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
      const LogRing ring(shape_, memory_.data() + RingAt(node, thread));
      std::uint64_t& taken_in = taken_in_[IndexOf(node, thread)];
      while (ring.Next(taken_in, record)) {
        Apply(record);
        if (!engine_.view().alive(node)) orphans_.insert(record);
      }
    }
  }
  engine_.RepairBoundary(3);
  const Status exchanged = ExchangeOrphans();
  repairing_ = false;
  SLIM_TRY(exchanged);
  engine_.RepairBoundary(4);
  // Whoever comes now is younger than all that was there, so that it sees the last of everything.
  for (const auto& orphan : orphans_) latest = std::max(latest, orphan[0]);
  for (const auto& thread : engine_.threads_) latest = std::max(latest, thread->clock.Latest());
  SLIM_ASSIGN(latest, cluster.all().AllMax(latest));
  for (const auto& thread : engine_.threads_) {
    thread->clock.Saw(latest);
    thread->cache.Clear();
    thread->log.Settle();
  }
  engine_.RepairBoundary(5);
  return cluster.all().Barrier();
}

// Carries them out.
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
  // Whoever reads of them from here on may be durable before them, were it not for this.
  CommitLog& log = engine_.durability()->log();
  for (const auto& orphan : orphans_) log.Add(orphan);
  if (!log.Flush()) return EnvironmentError("the log cannot be written");
  return {};
}

// Of all tuples of this node. The largest timestamp among them.
Timestamp Replication::FreeLocks() {
  Timestamp latest = 0;
  engine_.ForEachTuple([&](Table& table, std::byte* tuple) {
    // Others look at the words meanwhile: a fold, or a snapshot.
    std::uint64_t words[kMaxMetadataWords];
    auto* const own = reinterpret_cast<std::byte*>(words);
    const std::uint64_t bytes = table.shape().metadata_words * kWordBytes;
    LoadWords(own, tuple, bytes);
    latest = std::max(latest, engine_.protocol().Free(words));
    StoreWords(tuple, own, bytes);
  });
  return latest;
}

}  // namespace slimgraph::txn
