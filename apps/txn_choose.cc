// `slimgraph txn choose`: the best stage code, from one run in which each transaction draws a code
// (under CALVIN, epochs of the one form and of the other take turns), so that every form of every
// stage is measured beside the others. No code is tried by itself before it is chosen.
#include "apps/txn_commands.h"
#include "apps/txn_job.h"

namespace slimgraph {
namespace {

struct Choice {
  std::string code;
  double stages_us = 0;  // what its stages take, one after the other
};

// Stages follow each other, so the code with the least sum of means is the fastest, as far as
// latencies tell. Where threads have to agree on the forms (CALVIN), one that waits for messages
// and for writes pays for both ways of waiting, which no stage's latency shows: mixed codes were
// never the fastest, and often half as fast, so only those of one form are compared.
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
      // Rare stages (a release follows an abort) count as often as they were run.
      const auto i = static_cast<std::size_t>(stage);
      const double runs = static_cast<double>(figures.stage_runs[0][i] + figures.stage_runs[1][i]) /
                          static_cast<double>(std::max<std::uint64_t>(1, figures.committed));
      // A form that was never run is taken for no better and no worse than the other.
      bool form = parsed->one_sided(stage);
      if (figures.stage_runs[form ? 1 : 0][i] == 0) form = !form;
      sum_us += runs * figures.StageNs(stage, form) * 1e-3;
    }
    if (best.code.empty() || sum_us < best.stages_us) best = {code, sum_us};
  }
  return best;
}

Status Choose(Run& run, const TxnOptions& options) {
  TxnOptions mixed = options;
  mixed.mix_stages = true;
  // What nobody waits for seems to cost nothing; so it is waited for.
  mixed.without += mixed.without.empty() ? "passive" : ",passive";
  // Of many transactions at a time each waits for the others' turns, whatever its form costs.
  // (Under CALVIN they go together.)
  SLIM_ASSIGN(const auto named, txn::MakeProtocol(options.protocol));
  if (!named->fetches_once()) mixed.coroutines = 1;
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
  job->Describe(result, report, "/result/run");
  run.text += job->InWords(result);
  return {};
}

}  // namespace

Command TxnChooseCommand() {
  const auto state = std::make_shared<TxnOptions>();
  const auto declare = [state](Options& options) { DeclareTxnOptions(options, *state); };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = CheckTxnOptions(*state); !checked) return Complain(checked.error());
    if (state->workload == "list-append") {
      return Complain({ErrorKind::kUsage, "list-append is for checkers; choose for another"});
    }
    return RunJob("txn choose", state->job, arguments,
                  [state](Run& job_run) { return Choose(job_run, *state); });
  };
  return {"txn choose", "the best stage code, from measured latencies of the stages", declare, run};
}

}  // namespace slimgraph
