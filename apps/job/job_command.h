// The options that all commands that run as jobs share.
#pragma once

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

// Declares --nodes, --compute, --threads, --transport, --network, --qps-per-peer, --cpu-share,
// --node-memory, --json, --trace.
void DeclareJobOptions(Options& options, JobOptions& job);

// Declares --compute-schedule and --survive. `changes` says when compute nodes change, `keeps` what
// is kept in case that one dies.
void DeclareMoves(Options& options, JobOptions& job, const char* changes, const char* keeps);

// Declares --edge-cache and --access, which are the same for all engines.
void DeclareListAccess(Options& options, EdgeBudget& budget, JobOptions& job);

}  // namespace slimgraph
