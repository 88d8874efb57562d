// What the commands of pools print. All return the exit code.
#pragma once

#include <vector>

#include "slimgraph/pool/pool.h"

namespace slimgraph {

int PrintStarted(const PoolStarted& started, bool json);
int PrintLoaded(const PoolLoad& load, const PoolLoaded& loaded, double seconds, bool json);
int PrintStatus(const PoolView& view, bool json);
int PrintJobs(const PoolView& view, bool json);
// For Prometheus.
int PrintMetrics(const PoolView& view);
int PrintPools(const std::vector<PoolSummary>& pools, bool json);

}  // namespace slimgraph
