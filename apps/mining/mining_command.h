// Shared by the commands of D-Kudu: their options, loading the graph, timing, and the report.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/command.h"
#include "apps/graph/graph_input.h"
#include "apps/job/job_command.h"
#include "apps/job/job_runner.h"
#include "apps/output/text_output.h"
#include "apps/part.h"
#include "dkudu/mining_job.h"
#include "slimgraph/remote/cache_options.h"

namespace slimgraph {

struct MiningCommandOptions {
  JobOptions job;
  GraphInput graph;
  dkudu::MiningOptions mining;  // without cache_bytes, which `edges` determines
  EdgeBudget edges;
  bool directed = false;  // the command takes directed graphs as well
};

// Declares GRAPH, the options of the job, --edge-cache, --access, --chunk-memory, --reuse, --steal,
// --fetch.
void DeclareMiningOptions(Options& options, MiningCommandOptions& to);

// Adds the result to run.report and run.text.
using MiningWork = std::function<Status(JobRun&, const GraphSource&, dkudu::MiningJob&)>;

// What a command computes on a loaded graph.
struct MiningStep {
  dkudu::EngineBytes engine_bytes;
  MiningWork work;
  bool prints_ids = false;  // it keeps the original ids in memory
  MiningWork finish = {};   // on node 0, after the time was taken: writes or verifies the result
  std::uint64_t entry_bytes = 0;  // that all nodes keep for each entry of their lists
};
// An option that names a file, and a value that says the same to nodes that do not have the file.
struct SpelledOption {
  std::string name;  // without dashes
  std::string file;
  std::string instead;
};
class MiningPart : public Part {
 public:
  // Which lists it needs. Called before Step().
  virtual Result<dkudu::ListPart> Lists() = 0;
  // Called once per job, on every node. The step refers to this object.
  virtual Result<MiningStep> Step(JobRun& run) = 0;
  // Called after Lists().
  virtual std::optional<SpelledOption> Spelled() const { return std::nullopt; }
  // The file that it writes; "": none.
  virtual std::string output() const { return ""; }
  virtual bool takes_directed() const { return false; }
  // Whether its counts may be left and continued by other compute nodes, and the option with which
  // they may not; "": none.
  virtual bool may_move() const { return false; }
  virtual std::string stays_with() const { return ""; }
};

// The lists that suffice for all parts.
Result<dkudu::ListPart> ListsForAll(std::span<MiningPart* const> parts);
// How a job attaches to a graph of a pool that it mines.
PoolGraph WithMiningView(PoolGraph graph, dkudu::ListPart lists);

// Announces how much memory the job will need, loads the graph once, with what all steps need, runs
// and times them one after the other, and reports all but their results. `runs` get the results,
// one for each step. Sets the times of `run`.
Status RunMiningSteps(JobRun& run, const MiningCommandOptions& options, dkudu::ListPart lists,
                      std::span<const MiningStep> steps, std::span<JobRun* const> runs);
// Finds the graph and runs the part as a job. Returns the exit code.
int RunMiningCommand(const char* name, MiningCommandOptions& options, MiningPart& part,
                     std::vector<std::string> arguments);

// A command that computes the part `One`.
template <typename One>
Command MiningCommand(const char* name, const char* summary,
                      std::vector<std::string> aliases = {}) {
  struct State {
    MiningCommandOptions common;
    One part;
  };
  const auto state = std::make_shared<State>();
  state->common.graph.may_stand = true;
  const auto declare = [state](Options& options) {
    state->part.Declare(options);
    state->common.directed = state->part.takes_directed();
    if (state->part.may_move()) {
      DeclareMoves(options, state->common.job,
                   "when so many percent of the roots were begun, such as 4@0,1@50; a second count "
                   "has the steps from 100 on",
                   "what was counted so far");
    }
    DeclareMiningOptions(options, state->common);
  };
  const auto run = [state, name](const std::vector<std::string>& arguments) {
    const Status output = CheckOutput(state->part.output(), state->common.job.json);
    if (!output) return PrintError(output.error());
    return RunMiningCommand(name, state->common, state->part, arguments);
  };
  const auto make_part = [] { return std::make_unique<One>(); };
  return {name, summary, declare, run, std::move(aliases), make_part};
}

}  // namespace slimgraph
