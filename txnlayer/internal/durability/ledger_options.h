#pragma once

#include <cstdint>

#include "slimgraph/fabric/file_sync.h"

namespace slimgraph::txn {

// Whether writes cover whole lines and blocks, which is fastest on persistent memory, and slower on
// other memory.
enum class LedgerAlign : std::uint8_t { kAuto, kYes, kNo };

// Where commits become durable, with `--durable`.
struct LedgerOptions {
  bool remote = false;  // in ledgers of other nodes; else in a log of the node that commits
  FlushBy flush = FlushBy::kHome;
  LedgerAlign align = LedgerAlign::kAuto;
  std::uint64_t ring_bytes = 1 << 20;  // for each thread that commits
};

}  // namespace slimgraph::txn
