// Which locks each transaction of a trace requests, in which order, at a level of isolation.
#pragma once

#include "txnlayer/locks/lock_mode.h"
#include "txnlayer/replay/access_trace.h"

namespace slimgraph::txn {

struct LockPlanOptions {
  // Under read-committed, only rows that are written are locked.
  Isolation isolation = Isolation::kSerializable;
  // Before a row, its part of the table is locked in an intention mode.
  bool intentions = true;
  // A transaction that accesses more rows of a part locks the part instead: S if it only reads
  // them; SIX, with an X lock on each row that it writes, if it writes no more than that; otherwise
  // X. 0: never.
  std::uint32_t escalate = 0;
};

struct PlannedLock {
  std::uint32_t what = 0;  // a row, or AccessTrace::num_rows plus a part
  std::uint32_t partition = 0;
  LockMode mode = LockMode::kFree;
};

struct PlannedTransaction {
  const TracedTransaction* traced = nullptr;
  std::vector<PlannedLock> locks;
};

// In the order of the trace.
std::vector<PlannedTransaction> PlanLocks(const AccessTrace& trace, const LockPlanOptions& options);

}  // namespace slimgraph::txn
