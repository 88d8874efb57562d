// The options that all commands that run as jobs share.
#pragma once

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

// Declares --nodes, --compute, --threads, --transport, --network, --qps-per-peer, --cpu-share,
// --node-memory, --json, --trace.
void DeclareJobOptions(Options& options, JobOptions& job);

// Declares --compute-schedule. `steps` says what a step is.
void DeclareSchedule(Options& options, JobOptions& job, const char* steps);

// Declares --edge-cache, which is the same for all engines.
void DeclareEdgeCache(Options& options, EdgeBudget& budget);

}  // namespace slimgraph
