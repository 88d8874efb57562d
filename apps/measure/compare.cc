// `slimgraph compare`: what has changed between two runs or two experiments.
#include "experiment/compare.h"

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

using experiment::Change;
using experiment::Comparison;

struct CompareOptions {
  std::string before;
  std::string after;
  double threshold = 0.05;
  bool json = false;
};

// "10%" or "0.1".
Result<double> ParseThreshold(std::string text) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  SLIM_ASSIGN(const double value, ParseNumber<double>(text));
  if (!(value >= 0)) return UsageError("a threshold cannot be negative");
  return percent ? value / 100 : value;
}

void SetSpread(Report& report, const std::string& path, const experiment::Spread& spread) {
  report.Set(path + "/median", spread.median);
  report.Set(path + "/low", spread.low);
  report.Set(path + "/high", spread.high);
  report.Set(path + "/samples", std::uint64_t{spread.samples});
}

std::string Json(const Comparison& comparison, const CompareOptions& state) {
  constexpr const char* kKinds[] = {"better", "worse", "answer"};
  Report report("compare");
  SetOptions(report);
  report.Set("/result/points", std::uint64_t{comparison.points});
  report.Set("/result/measures", std::uint64_t{comparison.measures});
  report.Set("/result/failures", std::uint64_t{comparison.failures(state.threshold)});
  report.Set("/result/changed", std::uint64_t{comparison.changes.size()});
  for (std::size_t i = 0; i < comparison.changes.size(); ++i) {
    const Change& change = comparison.changes[i];
    const std::string path = fmt::format("/result/changes/{}", i);
    report.Set(path + "/kind", std::string(kKinds[static_cast<std::size_t>(change.kind)]));
    report.Set(path + "/point", change.point);
    report.Set(path + "/measure", change.measure);
    report.Set(path + "/by", change.by);
    SetSpread(report, path + "/before", change.before);
    SetSpread(report, path + "/after", change.after);
  }
  return ToJson(report) + "\n";
}

int RunCompare(const CompareOptions& state) {
  const auto comparison = experiment::Compare(state.before, state.after, state.threshold);
  if (!comparison) return PrintError(comparison.error());
  const bool failed = comparison->failures(state.threshold) != 0;
  return Print(
      state.json ? Json(*comparison, state) : experiment::Describe(*comparison, state.threshold),
      failed ? static_cast<int>(ErrorKind::kVerification) : 0);
}

}  // namespace

Command CompareCommand() {
  const auto state = std::make_shared<CompareOptions>();
  const auto declare = [state](Options& options) {
    options.Positional("BEFORE",
                       "a report (--json), several reports, one a line, or the folder of an "
                       "experiment",
                       state->before);
    options.Positional("AFTER", "the same from a later run", state->after);
    options
        .Value("--threshold", "SHARE|PERCENT",
               "how much a measure may get worse; if one gets worse by more, the exit code is 1",
               [state](const std::string& text) -> Status {
                 SLIM_ASSIGN(state->threshold, ParseThreshold(text));
                 return {};
               })
        .Default(fmt::format("{}%", 100 * state->threshold));
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) { return RunCompare(*state); };
  return {"compare", "what has changed beyond noise between two runs or experiments", declare, run};
}

}  // namespace slimgraph
