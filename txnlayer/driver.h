// Runs a workload on an engine for a while, and tells what came of it.
#pragma once

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

struct DriveOptions {
  double seconds = 1;
  std::uint64_t transactions = 0;  // of each coroutine; 0: as many as the time allows
  double per_second = 0;           // that are offered, by all together; 0: as many as possible
};

struct DriveResult {
  Figures figures;  // of all nodes
  double seconds = 0;
  std::vector<NodeId> lost;  // nodes that have died, and what it took to go on without them
  double repair_s = 0;
};

// Collective, between the workload's Load and Drive: logs are kept in that folder, and what earlier
// runs on the same data have committed is put back (durability/README.md).
Status KeepLogs(Engine& engine, Workload& workload, const std::string& folder);

// Collective. The workload is loaded; afterwards all locks are free, copies are as their
// partitions, and the workload has verified its data, or this fails.
Result<DriveResult> Drive(Engine& engine, Workload& workload, const DriveOptions& options);

}  // namespace slimgraph::txn
