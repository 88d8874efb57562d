// The options that all commands that run as jobs share.
#pragma once

#include "apps/command.h"
#include "apps/job/job_runner.h"

namespace slimgraph {

// Declares --nodes, --compute, --threads, --transport, --network, --qps-per-peer, --cpu-share,
// --node-memory, --json, --trace.
void DeclareJobOptions(Options& options, JobOptions& job);

}  // namespace slimgraph
