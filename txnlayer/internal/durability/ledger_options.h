#pragma once

#include <cstdint>

namespace slimgraph::txn {

// What makes commits in a ledger durable.
enum class LedgerFlush : std::uint8_t {
  kHome,  // its keeper syncs the file
  // A read behind the writes. That suffices on persistent memory, if the processor's caches survive
  // a loss of power as well. On other memory, commits survive all processes, but not the system.
  kRead,
};

// Whether writes cover whole lines and blocks, which is fastest on persistent memory, and slower on
// other memory.
enum class LedgerAlign : std::uint8_t { kAuto, kYes, kNo };

// Where commits become durable, with `--durable`.
struct LedgerOptions {
  bool remote = false;  // in ledgers of other nodes; else in a log of the node that commits
  LedgerFlush flush = LedgerFlush::kHome;
  LedgerAlign align = LedgerAlign::kAuto;
  std::uint64_t ring_bytes = 1 << 20;  // for each thread that commits
};

}  // namespace slimgraph::txn
