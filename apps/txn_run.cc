// `slimgraph txn run`.
#include "apps/job_command.h"
#include "apps/job_report.h"
#include "apps/txn_analytics.h"
#include "apps/txn_commands.h"
#include "apps/txn_job.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/units.h"
#include "txnlayer/disk/update.h"

namespace slimgraph {
namespace {

Status WriteHistory(AtomicFile& file, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit();
}

// What the commits of all nodes have changed, in the order of their times.
Result<std::string> UpdatesInOrder(Run& run, TxnJob& job) {
  SLIM_ASSIGN(const auto all, run.cluster.all().AllGather(std::as_bytes(job.workload().updates())));
  if (run.cluster.self() != 0) return std::string();
  std::vector<std::uint64_t> words;
  for (const auto& theirs : all) {
    const std::size_t at = words.size();
    words.resize(at + theirs.size() / sizeof(std::uint64_t));
    if (!theirs.empty()) std::memcpy(words.data() + at, theirs.data(), theirs.size());
  }
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

// Made before the run, so that a wrong path costs none; null: nobody wants it, or not here.
Result<std::optional<AtomicFile>> MakeFile(Run& run, const std::string& path) {
  std::optional<AtomicFile> file;
  if (run.cluster.self() == 0 && !path.empty()) {
    SLIM_ASSIGN(auto made, AtomicFile::Create(path));
    file.emplace(std::move(made));
  }
  return file;
}

Status RunTransactions(Run& run, const TxnOptions& options) {
  SLIM_ASSIGN(auto history, MakeFile(run, options.history));
  SLIM_ASSIGN(auto updates, MakeFile(run, options.updates));
  std::unique_ptr<TxnJob> job;  // outlives the analyst's thread
  SLIM_ASSIGN(const auto analyst, Analyst::Make(run.cluster, options));
  SLIM_ASSIGN(job, TxnJob::Load(run, options));
  SLIM_TRY(analyst->Check(options.work.store, *job));
  analyst->Start(*job);
  const auto driven = job->Drive();
  // At once, for the analysts of the others wait for this node's.
  if (!driven) run.cluster.job().Fail(driven.error());
  SLIM_ASSIGN(const txn::DriveResult result, driven);
  SLIM_TRY(analyst->Finish(*job));
  job->Describe(result, run.report, "/result");
  run.report.Set("/verified", true);
  run.text += job->InWords(result);
  analyst->Describe(run);
  if (!options.updates.empty()) {
    SLIM_ASSIGN(const std::string text, UpdatesInOrder(run, *job));
    if (updates) {
      SLIM_TRY(updates->WriteAt(0, std::as_bytes(std::span(text))));
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
    options.Text("--history", "FILE", "what list-append or graph-append transactions did",
                 state->history);
    options.Text("--analytics", "LIST",
                 "on snapshots of a store's graph, while the transactions run: pagerank, bfs, "
                 "bfs:SOURCE, sssp, sssp:SOURCE, cc, triangles, cliques, cliques:K",
                 state->analytics);
    options.Text("--export", "FILE", "a .slim file of a store's graph as the run leaves it",
                 state->export_to);
    options.Text("--updates", "FILE",
                 "what the run changes in a store's graph, in lines that `store apply` takes",
                 state->updates);
    options.Text("--durable", "DIR",
                 "commits outlive the death of all nodes: each keeps a log in DIR, from which the "
                 "next run with it recovers",
                 state->durable);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = CheckTxnOptions(*state); !checked) return Complain(checked.error());
    return RunJob("txn run", state->job, arguments,
                  [state](Run& job_run) { return RunTransactions(job_run, *state); });
  };
  return {"txn run", "run transactions, and measure them", declare, run};
}

}  // namespace slimgraph
