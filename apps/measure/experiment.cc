// `slimgraph experiment`: measures a whole study and writes a page about it.
#include "experiment/experiment.h"

#include <cstdio>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "experiment/child.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

using experiment::ExperimentOptions;
using experiment::RunnerEnd;

struct Request {
  ExperimentOptions options;
  bool json = false;
};

std::string FormatSummary(const experiment::Outcome& outcome) {
  std::string text;
  for (const std::string& answer : outcome.answers) text += answer + "\n";
  const auto& totals = outcome.totals;
  text += fmt::format("{} of {} points measured in {} runs over {}: {}\n", totals.measured,
                      totals.points, totals.runs, FormatSeconds(totals.spent_s), outcome.page);
  return text;
}

int RunAndPrint(Request& state, const std::vector<std::string>& arguments) {
  if (state.options.rounds == 0)
    return PrintError({ErrorKind::kUsage, "--rounds 0 measures nothing"});
  const experiment::StopSignals signals;
  const auto outcome =
      experiment::RunExperiment(state.options, experiment::Point{"", arguments}.line());
  if (!outcome) return PrintError(outcome.error());
  const auto& totals = outcome->totals;
  const bool stopped = totals.end == RunnerEnd::kStopped;
  const bool no_time = totals.too_long > 0 || totals.end == RunnerEnd::kBudgetSpent;
  if (totals.measured == 0 && no_time && !stopped) {
    return PrintError(
        {ErrorKind::kUsage, "the budget ended before any point was measured; give --budget more"});
  }
  for (const std::string& warning : outcome->warnings) {
    std::fputs(("slimgraph: " + warning + "\n").c_str(), stderr);
  }
  if (stopped) {
    std::fputs("slimgraph: stopped; run the same command again to continue\n", stderr);
    return 128 + experiment::StopSignals::received();
  }
  if (totals.measured == 0) {
    return PrintError({ErrorKind::kEnvironment, "nothing could be measured"});
  }
  Report summary = outcome->summary;
  SetOptions(summary);
  return Print(state.json ? ToJson(summary) + "\n" : FormatSummary(*outcome));
}

void Declare(Options& options, Request& state) {
  ExperimentOptions& to = state.options;
  std::string names;
  for (const auto& kind : experiment::AllStudies()) {
    names += fmt::format("{}: {}\n", kind.name, kind.summary);
  }
  options.Positional("NAME", (names + "all: all of them on one page").c_str(), to.name);
  options.Texts("--graphs", "FILE", "the .slim files to measure on", to.graphs)
      .Default("a kron graph is made");
  options
      .Text("-o,--output", "DIR",
            "the folder for index.html and the measurements; an experiment that was interrupted "
            "continues from them",
            to.folder)
      .Required();
  options
      .Value("--budget", "TIME", "how long to measure, such as 90s, 10m or 2h",
             [&to](const std::string& text) -> Status {
               SLIM_ASSIGN(to.budget_s, ParseSeconds(text));
               if (to.budget_s > 0) return {};
               return UsageError("the budget must be more than 0");
             })
      .Default("10m");
  options.Number("--rounds", "R", "run each point at most R times; fewer times where runs agree",
                 to.rounds);
  options.Flag("--small", "fewer and shorter points, on a smaller graph if one is made", to.small);
  options.Flag("--csv", "also write the numbers of each figure to csv/*.csv", to.csv);
  options.Number("--nodes", "N", "nodes that hold the graph", to.nodes);
  options.Number("--threads", "T", "threads of each node", to.threads);
  options.Text(
      "--network", "NAME",
      "the network to imitate: none, fdr, edr, efa, tcp10; slimgraph help scan explains them",
      to.network);
  options.Text("--transport", "NAME", "shm, tcp, mpi or verbs", to.transport)
      .Default("shm on one machine, tcp across machines");
  options.Flag("--no-shares", "do not limit nodes to equal shares of the processors",
               [&to] { to.shares = false; });
  options
      .Value("--node-memory", "BYTES", "memory limit of each node",
             [&to](const std::string& text) -> Status {
               SLIM_ASSIGN(to.node_memory, ParseBytes(text));
               return {};
             })
      .Default("no limit")
      .Shown(ShownAs::kBytes, std::nullopt);
  options.Text("--plain", "PROGRAM", "the program that `make plain` builds", to.plain_program)
      .Default("plain/slimgraph beside this program");
  options
      .Text("--launcher", "WORDS",
            "the command that starts the nodes of a point on a cluster, such as 'srun --mpi=pmi2 "
            "-n {nodes}'; such nodes have no limits of processors or memory",
            to.launcher)
      .Default("nodes are processes on this machine");
  options.Flag("--json", "the result as one JSON object", state.json);
}

}  // namespace

Command ExperimentCommand() {
  const auto state = std::make_shared<Request>();
  const auto declare = [state](Options& options) { Declare(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunAndPrint(*state, arguments);
  };
  return {"experiment", "a whole study, and a page with its plots", declare, run};
}

}  // namespace slimgraph
