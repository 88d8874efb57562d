// `slimgraph txn choose`: finds the best stage code from one run in which each transaction draws a
// random code. So every form of every stage is measured under the same load. (Under CALVIN, epochs
// alternate between the two forms.) No code is run alone before it is chosen.
#include "apps/commands.h"
#include "apps/txn/txn_job.h"

namespace slimgraph {
namespace {

struct Choice {
  std::string code;
  double stages_us = 0;  // sum of the latencies of its stages
};

// Stages run one after the other, so the code with the least sum of mean latencies is expected to
// be the fastest. Under CALVIN, all threads use the same form. A thread that waits both for
// messages and for writes pays for both kinds of waiting, which no stage's latency shows. Mixed
// codes were never the fastest there, and often half as fast, so only codes of one form are
// compared.
Choice BestOf(const std::vector<std::string>& codes, const txn::Protocol& protocol,
              const txn::Figures& figures) {
  Choice best;
  for (const std::string& code : codes) {
    const bool of_one_form = code.find(code[0] == '0' ? '1' : '0') == std::string::npos;
    if (protocol.fetches_once() && !of_one_form) continue;
    const auto parsed = txn::StageCode::Parse(code, protocol.name(), protocol.stages());
    double sum_us = 0;
    for (const txn::Stage stage : protocol.stages()) {
      if (!parsed || !protocol.Takes(stage, *parsed)) continue;
      // Weight each stage by its runs per commit: some are rare (a release follows an abort).
      const auto i = static_cast<std::size_t>(stage);
      const double runs = static_cast<double>(figures.stage_runs[0][i] + figures.stage_runs[1][i]) /
                          static_cast<double>(std::max<std::uint64_t>(1, figures.committed));
      // Assume that a form that was never run is as fast as the other form.
      bool form = parsed->one_sided(stage);
      if (figures.stage_runs[form ? 1 : 0][i] == 0) form = !form;
      sum_us += runs * figures.StageNs(stage, form) * 1e-3;
    }
    if (best.code.empty() || sum_us < best.stages_us) best = {code, sum_us};
  }
  return best;
}

Status Choose(JobRun& run, const TxnOptions& options) {
  TxnOptions mixed = options;
  mixed.mix_stages = true;
  // Without passive acknowledgement, so that the latency of every stage is measured: coordinators
  // would not wait for some stages otherwise.
  mixed.without += mixed.without.empty() ? "passive" : ",passive";
  // One coroutine: with more, latencies would contain waits for the turns of other coroutines.
  // (Under CALVIN, the transactions of an epoch run together.)
  SLIM_ASSIGN(const auto named, ProtocolOf(options));
  mixed.coroutines = named->fetches_once() ? options.coroutines.value_or(kUsualCoroutines) : 1;
  mixed.drive.finds_coroutines = false;
  mixed.most_coroutines = CoroutinesOf(options);
  SLIM_ASSIGN(const auto job, TxnJob::Load(run, mixed));
  SLIM_ASSIGN(const txn::DriveResult probe, job->Drive());
  SLIM_ASSIGN(const auto codes, AllStageCodes(options));
  const txn::Protocol& protocol = job->engine().protocol();
  const Choice choice = BestOf(codes, protocol, probe.figures);
  TxnOptions chosen = options;
  chosen.stages = choice.code;
  SLIM_TRY(job->Configure(chosen));
  SLIM_ASSIGN(const txn::DriveResult result, job->Drive());
  Report& report = run.report;
  report.Set("/result/choice", choice.code);
  report.Set("/result/codes", std::uint64_t{codes.size()});
  report.Set("/result/codes_tried", std::uint64_t{1});
  run.text += fmt::format("{} of {} codes; microseconds of each stage, two-sided and one-sided:\n",
                          choice.code, codes.size());
  for (const txn::Stage stage : protocol.stages()) {
    const double by_form[] = {probe.figures.StageNs(stage, false) * 1e-3,
                              probe.figures.StageNs(stage, true) * 1e-3};
    const std::string path = std::string("/result/probe_us/") + txn::StageName(stage);
    report.Set(path + "/two_sided", by_form[0]);
    report.Set(path + "/one_sided", by_form[1]);
    run.text +=
        fmt::format("  {:<10}{:>10.2f}{:>10.2f}\n", txn::StageName(stage), by_form[0], by_form[1]);
  }
  job->ReportFigures(result, report, "/result/run");
  report.Set("/verified", true);
  run.text += job->FormatSummary(result);
  return {};
}

}  // namespace

Command TxnChooseCommand() {
  const auto state = std::make_shared<TxnOptions>();
  const auto declare = [state](Options& options) {
    DeclareTxnOptions(options, *state, StagesAre::kFound);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (state->work.lookup == txn::Lookup::kTree) {
      return PrintError(
          {ErrorKind::kUsage, "--lookup tree goes by messages alone; there is nothing to choose"});
    }
    if (const Status checked = CheckTxnOptions(*state); !checked)
      return PrintError(checked.error());
    if (state->workload == "list-append") {
      return PrintError(
          {ErrorKind::kUsage, "list-append is for checkers; choose for another workload"});
    }
    return RunJob("txn choose", state->job, arguments,
                  [state](JobRun& job_run) { return Choose(job_run, *state); });
  };
  return {"txn choose", "the best stage code, from measured latencies of the stages", declare, run};
}

}  // namespace slimgraph
