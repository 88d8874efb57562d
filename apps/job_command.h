// What all commands that run as jobs share: the options of the cluster.
#pragma once

#include "apps/command.h"
#include "apps/job_runner.h"

namespace slimgraph {

// --nodes, --compute, --threads, --transport, --network, --qps-per-peer, --cpu-share,
// --node-memory,
// --json, --trace.
void DeclareJobOptions(Options& options, JobOptions& job);

}  // namespace slimgraph
