// Shared by the commands of D-Kudu: their options, loading the graph, timing, and the report.
#pragma once

#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/graph/graph_input.h"
#include "apps/job/job_runner.h"
#include "dkudu/mining_job.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

struct MiningCommandOptions {
  JobOptions job;
  GraphInput graph;
  dkudu::MiningOptions mining;  // without cache_bytes, which `edges` determines
  EdgeBudget edges;
  bool directed = false;    // the command takes directed graphs as well
  bool prints_ids = false;  // the command keeps the original ids in memory
};

// Declares GRAPH, the options of the job, --edge-cache, --chunk-memory, --reuse, --steal, --fetch.
void DeclareMiningOptions(Options& options, MiningCommandOptions& to);

// Finds the graph and runs the application as a job. Returns the exit code.
int RunMiningCommand(const char* name, MiningCommandOptions& options,
                     const std::vector<std::string>& arguments, const Application& application);

// Announces how much memory the job will need, loads the graph, runs and times `work`, and reports
// all but the result. `work` adds the result to run.report and run.text. `finish` does the same on
// node 0 after the time was taken: it writes or verifies the result.
using MiningWork = std::function<Status(JobRun&, const GraphSource&, dkudu::MiningJob&)>;
Status RunMiningJob(JobRun& run, const MiningCommandOptions& options, dkudu::ListPart part,
                    const dkudu::EngineBytes& engine_bytes, const MiningWork& work,
                    const MiningWork& finish = {});

}  // namespace slimgraph
