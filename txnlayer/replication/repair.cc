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
  // Behind this, nothing of the dead is on its way to anybody.
  SLIM_TRY(cluster.all().Barrier());
  for (const NodeId node : lost) {
    if (engine_.view_.Lose(node)) continue;
    return EnvironmentError("a partition is lost with node {}: more replicas are needed", node);
  }
  Timestamp latest = FreeLocks();
  repairing_ = true;
  // Of the dead, whatever record is whole anywhere is of a transaction that may have been reported;
  // so it is carried out everywhere.
  std::vector<std::uint64_t> orphans;
  std::vector<std::uint64_t> record;
  for (NodeId node = 0; node < cluster.topology().nodes(); ++node) {
    const bool orphaned = std::find(lost.begin(), lost.end(), node) != lost.end();
    for (std::uint32_t thread = 0; thread < cluster.threads(); ++thread) {
      const LogRing ring(memory_.data() + RingAt(node, thread));
      std::uint64_t& taken_in = taken_in_[IndexOf(node, thread)];
      while (ring.Next(taken_in, record)) {
        Apply(record);
        if (!orphaned) continue;
        orphans.push_back(record.size());
        orphans.insert(orphans.end(), record.begin(), record.end());
      }
    }
  }
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(orphans))));
  const bool logs_them = engine_.durability() != nullptr && engine_.self() == 0;
  CommitLog* const logs = logs_them ? &engine_.durability()->log() : nullptr;
  for (const auto& theirs : all) {
    std::vector<std::uint64_t> words(theirs.size() / kWordBytes);
    if (!words.empty()) std::memcpy(words.data(), theirs.data(), theirs.size());
    for (std::size_t at = 0; at < words.size(); at += 1 + words[at]) {
      record.assign(words.begin() + static_cast<std::ptrdiff_t>(at + 1),
                    words.begin() + static_cast<std::ptrdiff_t>(at + 1 + words[at]));
      latest = std::max(latest, record[0]);
      Apply(record);
      if (logs != nullptr) logs->Add(record);
    }
  }
  // Whoever reads of them from here on may be durable before them, were it not for this.
  if (logs != nullptr && !logs->Flush()) return EnvironmentError("the log cannot be written");
  repairing_ = false;
  // Whoever comes now is younger than all that was there, so that it sees the last of everything.
  for (const auto& thread : engine_.threads_) latest = std::max(latest, thread->clock.Latest());
  SLIM_ASSIGN(latest, cluster.all().AllMax(latest));
  for (const auto& thread : engine_.threads_) {
    thread->clock.Saw(latest);
    thread->cache.Clear();
    thread->log.Settle();
  }
  return cluster.all().Barrier();
}

// Of all tuples of this node. The largest timestamp among them.
Timestamp Replication::FreeLocks() {
  Timestamp latest = 0;
  engine_.ForEachTuple([&](Table&, std::byte* tuple) {
    const Timestamp met = engine_.protocol().Free(reinterpret_cast<std::uint64_t*>(tuple));
    latest = std::max(latest, met);
  });
  return latest;
}

}  // namespace slimgraph::txn
