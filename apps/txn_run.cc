// `slimgraph txn run`.
#include "apps/job_command.h"
#include "apps/job_report.h"
#include "apps/txn_commands.h"
#include "apps/txn_job.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

Status WriteHistory(AtomicFile& file, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit();
}

Status RunTransactions(Run& run, const TxnOptions& options) {
  std::optional<AtomicFile> history;  // made at once, so that a wrong path costs no run
  if (run.cluster.self() == 0 && !options.history.empty()) {
    SLIM_ASSIGN(auto made, AtomicFile::Create(options.history));
    history.emplace(std::move(made));
  }
  SLIM_ASSIGN(const auto job, TxnJob::Load(run, options));
  SLIM_ASSIGN(const txn::DriveResult result, job->Drive());
  job->Describe(result, run.report, "/result");
  run.report.Set("/verified", true);
  run.text += job->InWords(result);
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
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = CheckTxnOptions(*state); !checked) return Complain(checked.error());
    return RunJob("txn run", state->job, arguments,
                  [state](Run& job_run) { return RunTransactions(job_run, *state); });
  };
  return {"txn run", "run transactions, and measure them", declare, run};
}

}  // namespace slimgraph
