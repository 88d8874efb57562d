// `slimgraph experiment`: measures a whole study and writes a page about it. The lab does so.
#include <cstdio>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/measure/build_facts.h"
#include "apps/measure/lab.h"
#include "slimgraph/base/units.h"
#include "slimgraph/launch/node_limits.h"

namespace slimgraph {
namespace {

// The studies of python/slimgraph/lab/studies, in the same order. A test compares the two.
struct StudyInWords {
  const char* name;
  const char* summary;
};
constexpr StudyInWords kStudies[] = {
    {"overall", "(N,N) beside engines built without memory nodes (make plain)"},
    {"elasticity",
     "time, bytes, memory and processor time at (N,C) for C = N .. 1, with caches warm, cold and "
     "of 5 %"},
    {"scalability", "the same job on (2,1), (4,2) and (8,4)"},
    {"caches", "none, bitmap, index, edge; edge-cache budgets from 0 to 100 %"},
    {"memory-sides", "memory nodes that hold lists, serve them or reduce along them"},
    {"volume", "bytes per edge that mining moves, by what it reuses"},
    {"protocols", "six protocols, by messages, one-sided and mixed, on three workloads"},
    {"stages", "the latency of each stage, and every mix of stages as a point"},
    {"coroutines", "transactions by the number of coroutines of a thread"},
    {"contention", "transactions by the share of accesses to hot tuples"},
    {"computation", "transactions by how much they compute"},
    {"rcc", "RCC's and DrTM+H's experiments, on four nodes with three copies"},
    {"locks", "two-phase locking on thousands of simulated cores, and on real nodes"},
    {"queue-pairs", "one-sided operations by the queue pairs to each node (verbs)"},
    {"updates", "transactions that change a graph, beside analytics on its snapshots"},
    {"elastic-updates", "the same and smallbank at (N,C) for C = N .. 1, with 1 and 3 copies"},
    {"pool", "jobs that attach to a graph in a standing pool, against those that load it"},
};

// Most options are only passed on, by the report of all options.
struct Request {
  std::string name;
  std::vector<std::string> graphs;
  std::string folder;
  double budget_s = 600;
  std::size_t rounds = 15;  // the most per point; fewer once the medians are tight
  bool small = false;
  bool csv = false;
  NodeId nodes = 4;
  std::uint32_t threads = 1;
  std::string network = "fdr";
  std::string transport;
  bool shares = true;             // limit each node's share of a processor, if possible
  std::uint64_t node_memory = 0;  // 0: no limit
  std::string plain_program;
  std::string launcher;
  bool json = false;
};

// Why nodes cannot be limited to shares of processors; "" if they can.
std::string WhyNoLimits(const Request& request) {
  const auto tried = NodeGroups::Make(1, {.cpu_percent = 50, .memory_bytes = request.node_memory});
  return tried ? "" : tried.error().message;
}

int RunLab(const Request& request, const std::vector<std::string>& arguments) {
  if (request.rounds == 0) {
    return PrintError({ErrorKind::kUsage, "--rounds 0 measures nothing"});
  }
  const auto program = ThisProgram();
  if (!program) return PrintError(program.error());
  Report lab("experiment");
  SetOptions(lab);
  lab.Set("/invocation/program", *program);
  lab.Set("/invocation/version", VersionAndCommit());
  lab.Set("/invocation/compiler", std::string("GCC " __VERSION__));
  lab.Set("/invocation/arguments", arguments);
  lab.Set("/invocation/budget_s", request.budget_s);
  lab.Set("/invocation/limits_refused",
          request.shares && request.launcher.empty() ? WhyNoLimits(request) : "");
  return PrintError(BecomeLab(lab));
}

void Declare(Options& options, Request& to) {
  std::string names;
  for (const auto& [name, summary] : kStudies) names += fmt::format("{}: {}\n", name, summary);
  names += "all: all of them on one page\nFILE.py: your own, which defines study(settings)";
  options.Positional("NAME", names.c_str(), to.name);
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
  options.Flag("--json", "the result as one JSON object", to.json);
}

}  // namespace

Command ExperimentCommand() {
  const auto state = std::make_shared<Request>();
  const auto declare = [state](Options& options) { Declare(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    return RunLab(*state, arguments);
  };
  return {"experiment", "a whole study, and a page with its plots", declare, run};
}

}  // namespace slimgraph
