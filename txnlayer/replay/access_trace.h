// A trace: the rows that each transaction of a run has accessed, in order.
#pragma once

#include <span>

#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

struct TracedRow {
  std::uint32_t row = 0;   // a number of the trace's own
  std::uint32_t part = 0;  // likewise, of its part: the rows of its table in its partition
  std::uint32_t partition = 0;
  bool write = false;
};
// Where a row lies among those of its partition, in the order of tables and keys, as a fraction of
// 2^32. A part of a table lies where its first row does.
using Place = std::uint32_t;

struct TracedTransaction {
  std::uint32_t partition = 0;  // the one for which it works
  std::uint32_t kind = 0;       // of AccessTrace::kinds
  std::span<const TracedRow> rows;
};

struct AccessTrace {
  std::uint32_t partitions = 0;
  std::vector<Place> places;  // of rows, and behind them of parts
  std::uint32_t num_rows = 0;
  std::vector<TracedTransaction> transactions;
  std::vector<std::string> kinds;

  std::vector<std::unique_ptr<TracedRow[]>> memory = {};  // of the rows
};

// Runs so many transactions of a loaded workload, one after the other, and records those that
// commit. The engine runs one coroutine on one node. The rows of constant tables count as rows of
// the partition for which a transaction works, as each node has a copy of them.
Result<AccessTrace> RecordAccesses(Engine& engine, Workload& workload, std::uint64_t transactions);

}  // namespace slimgraph::txn
