// What the commands of D-Kudu share: their options, loading the graph, timing, and the report.
#pragma once

#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/job_runner.h"
#include "dkudu/mining_job.h"

namespace slimgraph {

struct MiningCommandOptions {
  JobOptions job;
  std::string graph;
  MiningOptions mining;
};

// GRAPH, the options of the job, --edge-cache, --chunk-memory, --reuse, --steal, --fetch.
void DeclareMiningOptions(Options& options, MiningCommandOptions& to);

// Loads the graph, runs `work` and times it, and reports all but the result, which is the work's
// own to tell by run.report and run.text.
using MiningWork = std::function<Status(Run&, const GraphSource&, MiningJob&)>;
Status Mine(Run& run, const MiningCommandOptions& options, ListPart part, const MiningWork& work);

// The entries of AllCommands().
Command TrianglesCommand();
Command MotifsCommand();
Command CliquesCommand();
Command MatchCommand();
Command LocalCommand();

}  // namespace slimgraph
