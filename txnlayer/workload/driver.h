// Runs a workload on an engine for a while, and returns the results.
#pragma once

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

// DriveOptions::finds_coroutines: so many of each thread.
constexpr std::uint32_t kMostFoundCoroutines = 16;

struct DriveOptions {
  double seconds = 1;
  std::uint64_t transactions = 0;  // of each coroutine; 0: as many as the time allows
  double per_second = 0;           // offered load of all clients together; 0: as many as possible
  // Each thread finds at the beginning how many of its coroutines should run transactions at a time
  // (internal/concurrency.h). The engine has kMostFoundCoroutines of each thread then.
  bool finds_coroutines = false;
  // With logs on disk and without folds: a checkpoint is made when the logs are larger than this
  // and larger than the tables.
  std::uint64_t checkpoint_bytes = 64 << 20;
};

struct DriveResult {
  Figures figures;  // of all nodes
  double seconds = 0;
  double coroutines = 0;     // that ran transactions at a time, on average over the threads
  std::vector<NodeId> lost;  // nodes that have died; repair_s is the time of the repairs
  double repair_s = 0;
  std::uint64_t checkpoints = 0;  // of logs
};

// Collective, between the workload's Load and Drive: logs commits to `folder`, and recovers what
// earlier runs on the same data have committed (durability/README.md).
Status KeepLogs(Engine& engine, Workload& workload, const std::string& folder);

// Collective, after the workload's Load. Fails unless afterwards all locks are free, copies equal
// their partitions, and the workload has verified its data.
Result<DriveResult> Drive(Engine& engine, Workload& workload, const DriveOptions& options);

}  // namespace slimgraph::txn
