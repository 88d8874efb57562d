// `slimgraph compare`: what has changed between two runs or two experiments. The lab compares.
#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/measure/lab.h"

namespace slimgraph {
namespace {

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

int RunCompare(const CompareOptions& state) {
  Report lab("compare");
  SetOptions(lab);
  lab.Set("/invocation/threshold", state.threshold);
  return PrintError(BecomeLab(lab));
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
