// `slimgraph txn sweep`: runs a workload at several values of one option; a JSON row for each.
#include <algorithm>

#include "apps/commands.h"
#include "apps/job/job_report.h"
#include "apps/txn/txn_job.h"
#include "slimgraph/base/split.h"

namespace slimgraph {
namespace {

enum class Dimension : std::uint8_t { kCoroutines, kHot, kComputeUs, kQps, kStages };
constexpr const char* kNames[] = {"coroutines", "hot", "compute-us", "qps", "stages"};
constexpr const char* kDefaults[] = {"1,2,4,8,16,32", "0,0.25,0.5,0.75,0.9,0.99", "0,1,2,4,8,16,32",
                                     "10000,20000,40000,80000,160000,320000", ""};

struct SweepOptions {
  TxnOptions txn;
  Dimension over = Dimension::kCoroutines;
  std::string values;
};

// The values to sweep over: those of --values, the default ones, or every stage code.
Result<std::vector<std::string>> SweepValues(const SweepOptions& state) {
  if (state.values.empty() && state.over == Dimension::kStages) return AllStageCodes(state.txn);
  const std::string_view text = state.values.empty()
                                    ? kDefaults[static_cast<std::size_t>(state.over)]
                                    : std::string_view(state.values);
  const auto values = Split(text);
  return std::vector<std::string>(values.begin(), values.end());
}

Result<TxnOptions> OptionsAt(const SweepOptions& state, const std::string& value) {
  TxnOptions options = state.txn;
  switch (state.over) {
    case Dimension::kCoroutines: {
      SLIM_ASSIGN(options.coroutines, ParseNumber<std::uint32_t>(value));
      break;
    }
    case Dimension::kHot: {
      SLIM_ASSIGN(options.work.hot, ParseNumber<double>(value));
      break;
    }
    case Dimension::kComputeUs: {
      SLIM_ASSIGN(options.work.compute_us, ParseNumber<std::uint64_t>(value));
      break;
    }
    case Dimension::kQps: {
      SLIM_ASSIGN(options.drive.per_second, ParseNumber<double>(value));
      break;
    }
    case Dimension::kStages:
      options.stages = value;
      break;
  }
  SLIM_TRY(CheckTxnOptions(options));
  return options;
}

Status Check(SweepOptions& state) {
  SLIM_TRY(CheckTxnOptions(state.txn));
  if (state.txn.workload == "list-append") {
    return UsageError("list-append is for checkers; sweep over smallbank or ycsb");
  }
  if (state.over == Dimension::kComputeUs && state.txn.workload != "ycsb") {
    return UsageError("--over compute-us needs --workload ycsb: no other workload computes");
  }
  SLIM_ASSIGN(const auto points, SweepValues(state));
  for (const std::string& point : points) SLIM_TRY(OptionsAt(state, point));
  return {};
}

Status Sweep(JobRun& run, const SweepOptions& state) {
  SLIM_ASSIGN(const auto points, SweepValues(state));
  std::uint32_t most_coroutines = 0;
  for (const std::string& point : points) {
    SLIM_ASSIGN(const TxnOptions options, OptionsAt(state, point));
    most_coroutines = std::max(most_coroutines, CoroutinesOf(options));
  }
  std::unique_ptr<TxnJob> job;
  run.appends_traffic = false;
  const char* const name = kNames[static_cast<std::size_t>(state.over)];
  for (std::size_t i = 0; i < points.size(); ++i) {
    SLIM_ASSIGN(TxnOptions options, OptionsAt(state, points[i]));
    options.most_coroutines = most_coroutines;
    if (!job) {
      SLIM_ASSIGN(job, TxnJob::Load(run, options));
    } else {
      SLIM_TRY(job->Configure(options));
    }
    SLIM_ASSIGN(const txn::DriveResult result, job->Drive());
    Report row("txn sweep");
    row.Set("/over", std::string(name));
    row.Set("/value", points[i]);
    job->ReportFigures(result, row, "");
    row.Set("/verified", true);  // otherwise Drive() would have failed
    run.text += ToJson(row) + "\n";
    job->ReportFigures(result, run.report, fmt::format("/result/rows/{}", i));
    run.report.Set(fmt::format("/result/rows/{}/value", i), points[i]);
  }
  run.report.Set("/verified", true);
  return {};
}

}  // namespace

Command TxnSweepCommand() {
  const auto state = std::make_shared<SweepOptions>();
  state->txn.drive.seconds = 0.3;
  const auto declare = [state](Options& options) {
    DeclareTxnOptions(options, state->txn);
    options
        .Choice("--over", "the option that is varied", {std::begin(kNames), std::end(kNames)},
                state->over)
        .Required();
    options.Text("--values", "LIST", "the values, separated by commas", state->values)
        .Default("values of its own for each option, for stages all codes");
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = Check(*state); !checked) return PrintError(checked.error());
    return RunJob("txn sweep", state->txn.job, arguments,
                  [state](JobRun& job_run) { return Sweep(job_run, *state); });
  };
  return {"txn sweep", "transactions at several points, a JSON row for each", declare, run};
}

}  // namespace slimgraph
