// `slimgraph txn run`.
#include "apps/commands.h"
#include "apps/job/job_command.h"
#include "apps/job/job_report.h"
#include "apps/output/text_output.h"
#include "apps/txn/analytics.h"
#include "apps/txn/txn_job.h"
#include "slimgraph/base/units.h"
#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph_model/update.h"

namespace slimgraph {
namespace {

Status WriteHistory(TextOutput& file, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  SLIM_TRY(file.Append(text));
  return file.Commit();
}

// The changes of all nodes' commits as update lines, in the order of commit times.
Result<std::string> UpdatesInOrder(JobRun& run, TxnJob& job) {
  SLIM_ASSIGN(const auto words,
              GatherList<std::uint64_t>(run.cluster.all(), job.workload().updates()));
  if (run.cluster.self() != 0) return std::string();
  std::vector<std::pair<txn::GraphTime, std::span<const std::uint64_t>>> commits;
  for (std::span<const std::uint64_t> rest = words; !rest.empty();
       rest = rest.subspan(2 + rest[1])) {
    commits.emplace_back(rest[0], rest.subspan(2, rest[1]));
  }
  std::stable_sort(commits.begin(), commits.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::string text;
  txn::Update update;
  for (auto [time, updates] : commits) {
    text += fmt::format("# time {}\n", time);
    while (txn::TakeUpdate(job.workload().graph()->shape(), updates, update)) {
      txn::AppendLine(job.workload().graph()->shape(), update, text);
    }
  }
  return text;
}

// Creates the file before the run, so that a wrong path does not cost a run. Returns nullopt if
// `path` is empty or this is not node 0.
Result<std::optional<TextOutput>> MakeFile(JobRun& run, const std::string& path) {
  std::optional<TextOutput> file;
  if (run.cluster.self() == 0 && !path.empty()) {
    SLIM_ASSIGN(auto made, TextOutput::Create(path));
    run.text_to_stderr |= IsStandardOutput(path);
    file.emplace(std::move(made));
  }
  return file;
}

Status RunTransactions(JobRun& run, const TxnOptions& options) {
  SLIM_ASSIGN(auto history, MakeFile(run, options.history));
  SLIM_ASSIGN(auto updates, MakeFile(run, options.updates));
  std::unique_ptr<TxnJob> job;  // outlives the analyst's thread
  SLIM_ASSIGN(const auto analyst, Analyst::Make(run.cluster, options));
  SLIM_ASSIGN(job, TxnJob::Load(run, options));
  SLIM_TRY(analyst->Check(options.work.store, *job));
  analyst->Start(*job);
  const auto driven = job->Drive();
  // Fail at once: other nodes' analysts wait for this node's analyst.
  if (!driven) run.cluster.job().Fail(driven.error());
  SLIM_ASSIGN(const txn::DriveResult result, driven);
  SLIM_TRY(analyst->Finish(*job));
  job->ReportFigures(result, run.report, "/result");
  run.report.Set("/verified", true);
  run.text += job->FormatSummary(result);
  analyst->ReportFindings(run);
  if (!options.updates.empty()) {
    if (!result.lost.empty()) {
      return EnvironmentError(
          "--updates {}: not written: node {} died, and only that node knew all of its commits; "
          "--export FILE writes the whole graph",
          options.updates, result.lost.front());
    }
    SLIM_ASSIGN(const std::string text, UpdatesInOrder(run, *job));
    if (updates) {
      SLIM_TRY(updates->Append(text));
      SLIM_TRY(updates->Commit());
    }
  }
  if (options.history.empty()) return {};
  std::vector<std::string> journals;
  for (const NodeId node : result.lost) journals.push_back(txn::JournalOf(options.history, node));
  SLIM_ASSIGN(const auto lines, job->workload().history()->Gather(run.cluster.all(), journals));
  if (history) SLIM_TRY(WriteHistory(*history, lines));
  return run.cluster.all().Barrier();
}

}  // namespace

Command TxnRunCommand() {
  const auto state = std::make_shared<TxnOptions>();
  const auto declare = [state](Options& options) {
    DeclareTxnOptions(options, *state);
    options
        .Text(
            "--history", "FILE",
            "the operations of list-append, graph-append or index-append transactions; -: standard "
            "output",
            state->history)
        .Default("no file");
    options
        .Text("--analytics", "LIST",
              "analyses on snapshots of a store's graph, while transactions run: pagerank, bfs, "
              "bfs:SOURCE, sssp, sssp:SOURCE, cc, cdlp, cdlp:ITERATIONS, kcore, mis, mis:SEED, "
              "triangles, "
              "cliques, cliques:K, lcc, ktruss",
              state->analytics)
        .Default("none");
    options
        .Text("--export", "FILE", "a .slim file of a store's graph at the end of the run",
              state->export_to)
        .Default("no file");
    options
        .Text("--updates", "FILE",
              "the changes of the run to a store's graph, as a file for `store apply --from`",
              state->updates)
        .Default("no file");
    options
        .Text("--durable", "DIR",
              "commits survive the death of all nodes: each node keeps a log in DIR, and the next "
              "run with DIR recovers from it",
              state->durable)
        .Default("no logs");
    options.Choice(
        "--commit-log",
        "with --durable. local: a commit is in the log of the node that runs it. remote: "
        "it is written one-sided into a file that is memory of a memory node, or of the "
        "next node if all compute",
        {"local", "remote"}, state->ledger.remote);
    options.Choice(
        "--flush",
        "with --commit-log remote, what makes a commit durable. home: that node syncs the "
        "file. read: a read behind the write, which suffices on persistent memory if the "
        "processor's caches survive a loss of power; on other memory commits survive the "
        "death of all nodes, but not of their system",
        {"home", "read"}, state->ledger.flush);
    options.Choice("--align-commits",
                   "with --commit-log remote, whether writes cover whole lines of 64 bytes, and "
                   "large ones blocks of 256. auto: on persistent memory",
                   {"auto", "yes", "no"}, state->ledger.align);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = CheckTxnOptions(*state); !checked)
      return PrintError(checked.error());
    for (const std::string& path : {state->history, state->updates, state->job.trace}) {
      const Status output = CheckOutput(path, state->job.json);
      if (!output) return PrintError(output.error());
    }
    return RunJob("txn run", state->job, arguments,
                  [state](JobRun& job_run) { return RunTransactions(job_run, *state); });
  };
  return {"txn run", "run transactions, and measure them", declare, run};
}

}  // namespace slimgraph
