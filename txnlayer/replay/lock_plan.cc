#include "txnlayer/replay/lock_plan.h"

#include <map>

namespace slimgraph::txn {
namespace {

struct RowsOfPart {
  std::uint32_t locked = 0;  // those that the level of isolation locks
  std::uint32_t written = 0;
  LockMode held = LockMode::kFree;  // on the part
};

bool LocksReads(const LockPlanOptions& options) {
  return options.isolation == Isolation::kSerializable;
}

LockMode ModeOfPart(const RowsOfPart& rows, bool write, const LockPlanOptions& options) {
  if (options.escalate != 0 && rows.locked > options.escalate) {
    if (rows.written == 0) return LockMode::kS;
    return rows.written > options.escalate || rows.written == rows.locked ? LockMode::kX
                                                                          : LockMode::kSIX;
  }
  if (!options.intentions) return LockMode::kFree;
  return write ? LockMode::kIX : LockMode::kIS;
}

// Whether a lock on the part in that mode makes one on the row unnecessary.
bool Covers(LockMode part, bool write) {
  return part == LockMode::kX || (!write && (part == LockMode::kS || part == LockMode::kSIX));
}

}  // namespace

std::vector<PlannedTransaction> PlanLocks(const AccessTrace& trace,
                                          const LockPlanOptions& options) {
  std::vector<PlannedTransaction> plan;
  plan.reserve(trace.transactions.size());
  for (const TracedTransaction& traced : trace.transactions) {
    PlannedTransaction& planned = plan.emplace_back();
    planned.traced = &traced;
    std::map<std::uint32_t, RowsOfPart> parts;
    for (const TracedRow& row : traced.rows) {
      if (!row.write && !LocksReads(options)) continue;
      RowsOfPart& part = parts[row.part];
      ++part.locked;
      part.written += row.write ? 1 : 0;
    }
    for (const TracedRow& row : traced.rows) {
      if (!row.write && !LocksReads(options)) continue;
      RowsOfPart& part = parts[row.part];
      const LockMode wanted = Union(part.held, ModeOfPart(part, row.write, options));
      if (wanted != part.held) {
        planned.locks.push_back({trace.num_rows + row.part, row.partition, wanted});
        part.held = wanted;
      }
      if (Covers(part.held, row.write)) continue;
      planned.locks.push_back({row.row, row.partition, row.write ? LockMode::kX : LockMode::kS});
    }
  }
  return plan;
}

}  // namespace slimgraph::txn
