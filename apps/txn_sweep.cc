// `slimgraph txn sweep`: the same workload at several points of one dimension, a row for each.
#include "apps/job_report.h"
#include "apps/txn_commands.h"
#include "apps/txn_job.h"

namespace slimgraph {
namespace {

enum class Dimension : std::uint8_t { kCoroutines, kHot, kComputeUs, kQps, kStages };
constexpr const char* kNames[] = {"coroutines", "hot", "compute-us", "qps", "stages"};
constexpr const char* kDefaults[] = {"1,2,4,8,16,32", "0,0.25,0.5,0.75,0.9,0.99", "0,1,2,4,8,16,32",
                                     "10000,20000,40000,80000,160000,320000", ""};

struct SweepOptions {
  TxnOptions txn;
  Dimension over = Dimension::kCoroutines;
  bool given = false;
  std::string values;
};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// What is swept over: the values given, the usual ones, or every code.
Result<std::vector<std::string>> Points(const SweepOptions& state) {
  if (!state.values.empty()) return Split(state.values);
  if (state.over == Dimension::kStages) return AllStageCodes(state.txn);
  return Split(kDefaults[static_cast<std::size_t>(state.over)]);
}

Result<TxnOptions> At(const SweepOptions& state, const std::string& value) {
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
  if (!state.given) return UsageError("--over is needed: coroutines, hot, compute-us, qps, stages");
  if (state.txn.workload == "list-append") {
    return UsageError("list-append is for checkers; sweep over smallbank or ycsb");
  }
  if (state.over == Dimension::kComputeUs && state.txn.workload != "ycsb") {
    return UsageError("only ycsb computes: --over compute-us needs --workload ycsb");
  }
  SLIM_ASSIGN(const auto points, Points(state));
  for (const std::string& point : points) SLIM_TRY(At(state, point));
  return {};
}

Status Sweep(Run& run, const SweepOptions& state) {
  SLIM_ASSIGN(const auto points, Points(state));
  std::unique_ptr<TxnJob> job;
  run.in_words = false;
  const char* const name = kNames[static_cast<std::size_t>(state.over)];
  for (std::size_t i = 0; i < points.size(); ++i) {
    SLIM_ASSIGN(const TxnOptions options, At(state, points[i]));
    if (!job) {
      SLIM_ASSIGN(job, TxnJob::Load(run, options));
    } else {
      SLIM_TRY(job->Configure(options));
    }
    SLIM_ASSIGN(const txn::DriveResult result, job->Drive());
    Report row("txn sweep");
    row.Set("/over", std::string(name));
    row.Set("/value", points[i]);
    job->Describe(result, row, "");
    run.text += ToJson(row) + "\n";
    job->Describe(result, run.report, fmt::format("/result/rows/{}", i));
    run.report.Set(fmt::format("/result/rows/{}/value", i), points[i]);
  }
  return {};
}

}  // namespace

Command TxnSweepCommand() {
  const auto state = std::make_shared<SweepOptions>();
  state->txn.drive.seconds = 0.3;
  const auto declare = [state](Options& options) {
    DeclareTxnOptions(options, state->txn);
    options.Value("--over", "coroutines|hot|compute-us|qps|stages", "what is varied",
                  [state](const std::string& text) -> Status {
                    for (std::size_t i = 0; i < std::size(kNames); ++i) {
                      if (text != kNames[i]) continue;
                      state->over = static_cast<Dimension>(i);
                      state->given = true;
                      return {};
                    }
                    return UsageError("expected coroutines, hot, compute-us, qps or stages");
                  });
    options.Text("--values", "LIST", "at which values (default: the usual ones, or all codes)",
                 state->values);
  };
  const auto run = [state](const std::vector<std::string>& arguments) {
    if (const Status checked = Check(*state); !checked) return Complain(checked.error());
    return RunJob("txn sweep", state->txn.job, arguments,
                  [state](Run& job_run) { return Sweep(job_run, *state); });
  };
  return {"txn sweep", "transactions at several points, a JSON row for each", declare, run};
}

}  // namespace slimgraph
