// `slimgraph experiment`: a whole study, and a page about it.
#include "experiment/experiment.h"

#include <cstdio>

#include "apps/experiment_commands.h"
#include "apps/job_runner.h"
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

std::string InWords(const experiment::Outcome& outcome) {
  std::string text;
  for (const std::string& answer : outcome.answers) text += answer + "\n";
  const auto& carried = outcome.carried;
  text += fmt::format("{} of {} points measured in {} runs over {}: {}\n", carried.measured,
                      carried.points, carried.runs, FormatSeconds(carried.spent_s), outcome.page);
  return text;
}

int RunIt(Request& state, const std::vector<std::string>& arguments) {
  if (state.options.folder.empty()) {
    return Complain(
        {ErrorKind::kUsage, "experiment needs -o DIR: the folder for what comes of it"});
  }
  if (state.options.rounds == 0)
    return Complain({ErrorKind::kUsage, "--rounds 0 measures nothing"});
  const experiment::StopSignals signals;
  const auto outcome =
      experiment::RunExperiment(state.options, experiment::Point{"", arguments}.line());
  if (!outcome) return Complain(outcome.error());
  const auto& carried = outcome->carried;
  const bool stopped = carried.end == RunnerEnd::kStopped;
  const bool no_time = carried.too_long > 0 || carried.end == RunnerEnd::kBudgetSpent;
  if (carried.measured == 0 && no_time && !stopped) {
    return Complain(
        {ErrorKind::kUsage, "the budget ended before any point was measured; give --budget more"});
  }
  for (const std::string& warning : outcome->warnings) {
    std::fputs(("slimgraph: " + warning + "\n").c_str(), stderr);
  }
  if (stopped) {
    std::fputs("slimgraph: stopped; the same command goes on from here\n", stderr);
    return 128 + experiment::StopSignals::received();
  }
  if (carried.measured == 0) {
    return Complain({ErrorKind::kEnvironment, "nothing could be measured"});
  }
  Report summary = outcome->summary;
  SetOptions(summary);
  const std::string text = state.json ? ToJson(summary) + "\n" : InWords(*outcome);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return Complain({ErrorKind::kEnvironment, "cannot write the result to standard output"});
  }
  return 0;
}

void Declare(Options& options, Request& state) {
  ExperimentOptions& to = state.options;
  std::string names;
  for (const auto& kind : experiment::AllStudies()) {
    names += fmt::format("{}: {}\n", kind.name, kind.summary);
  }
  options.Positional("NAME", (names + "all: all of them on one page").c_str(), to.name);
  options.Texts("--graphs", "FILE", "the .slim files to measure on (default: a kron graph is made)",
                to.graphs);
  options.Text(
      "-o,--output", "DIR",
      "the folder for index.html and what was measured; an experiment that was interrupted "
      "goes on there",
      to.folder);
  options.Value("--budget", "TIME", "how long, as 90s, 10m, 2h (default 10m)",
                [&to](const std::string& text) -> Status {
                  SLIM_ASSIGN(to.budget_s, ParseSeconds(text));
                  if (to.budget_s > 0) return {};
                  return UsageError("a budget is more than nothing");
                });
  options.Number("--rounds", "R", "run a point no more often (default 15; fewer where they agree)",
                 to.rounds);
  options.Flag("--small", "fewer and shorter points, on a smaller graph if one is made", to.small);
  options.Flag("--csv", "the numbers of each figure as csv/*.csv too", to.csv);
  options.Number("--nodes", "N", "nodes that hold the graph (default 4)", to.nodes);
  options.Number("--threads", "T", "threads of each node (default 1)", to.threads);
  options.Text("--network", "NAME",
               "the network to imitate: none, fdr, edr, efa, tcp10 (default fdr)", to.network);
  options.Text("--transport", "NAME", "shm, tcp, mpi or verbs", to.transport);
  options.Flag("--no-shares", "nodes take what they get of the processors",
               [&to] { to.shares = false; });
  options.Value("--node-memory", "BYTES", "each node may hold so much and no more",
                [&to](const std::string& text) -> Status {
                  SLIM_ASSIGN(to.node_memory, ParseBytes(text));
                  return {};
                });
  options.Text("--plain", "PROGRAM", "what `make plain` has built (default: beside this program)",
               to.plain_program);
  options.Text("--launcher", "WORDS",
               "what starts the nodes of a point on a cluster, as 'srun --mpi=pmi2 -n {nodes}'; "
               "nodes then have what their hosts have",
               to.launcher);
  options.Flag("--json", "the result as one JSON object", state.json);
}

}  // namespace

Command ExperimentCommand() {
  const auto state = std::make_shared<Request>();
  const auto declare = [state](Options& options) { Declare(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunIt(*state, arguments);
  };
  return {"experiment", "a whole study, and a page with its plots", declare, run};
}

}  // namespace slimgraph
