// The comparisons of `slimgraph bench fabric`: the fabric against a plain copy, a bare socket, and
// an idle processor.
#pragma once

#include "apps/measure/bench_fabric.h"

namespace slimgraph {

// On node 0 alone: batches of reads of random 64-byte lines, and reads of 1 MiB, from node 1's
// region. They are compared with plain copies from node 0's own region, which is the same kind of
// memory.
FabricBar CompareLinesWithCopy(Fabric& fabric, RegionId region);
FabricBar CompareLargeReadsWithCopy(Fabric& fabric, RegionId region);

// Collective. Compares 64 KiB reads of node 1 with sending 16 bytes and receiving 64 KiB on a plain
// blocking socket.
Result<FabricBar> CompareReadsWithSocket(Job& job, Fabric& fabric, RegionId region);

// Collective. Measures how much of a processor node 1 uses while it waits and nothing arrives.
Result<FabricBar> MeasureParkedNode(Job& job, Fabric& fabric, double seconds);

}  // namespace slimgraph
