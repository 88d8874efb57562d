// The comparisons of `slimgraph bench fabric`: the fabric against a plain copy, a bare socket, and
// an idle processor.
#pragma once

#include "apps/bench_fabric.h"

namespace slimgraph {

// Node 0 alone. Batches of random 64-byte lines, and 1 MiB, of node 1's region, against plain
// copies of the same lines of the own one, which is memory of the same kind.
FabricBar CompareLinesWithCopy(Fabric& fabric, RegionId region);
FabricBar CompareLargeReadsWithCopy(Fabric& fabric, RegionId region);

// Collective. 64 KiB reads of node 1 against 16 bytes sent and 64 KiB received on a plain blocking
// socket.
Result<FabricBar> CompareReadsWithSocket(Job& job, Fabric& fabric, RegionId region);

// Collective. How much of a processor node 1 uses while it waits and nobody asks.
Result<FabricBar> WatchParkedNode(Job& job, Fabric& fabric, double seconds);

}  // namespace slimgraph
