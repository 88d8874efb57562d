#include "experiment/runner.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <optional>

#include "experiment/child.h"
#include "experiment/raw_runs.h"
#include "experiment/verify.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph::experiment {
namespace {

constexpr double kLeastLimitS = 10;

std::string NowUtc() {
  const auto now = static_cast<std::time_t>(CalendarNs() / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

class Runner {
 public:
  Runner(const std::vector<Study>& studies, const RunnerOptions& options)
      : studies_(studies), options_(options) {}

  Result<RunTotals> Run() {
    SLIM_TRY(LoadEarlierRuns());
    for (const Study& study : studies_) {
      for (const PointGroup& group : study.groups) totals_.points += group.points.size();
    }
    while (const auto next = NextStep()) {
      if (totals_.spent_s >= options_.budget_s) {
        totals_.end = RunnerEnd::kBudgetSpent;
        break;
      }
      Show(*next);
      SLIM_ASSIGN(const bool go_on, RunPoint(*next));
      if (go_on) continue;
      totals_.end = RunnerEnd::kStopped;
      break;
    }
    for (const Study& study : studies_) {
      CompareResults(study, ResultsOf(study));
      for (const PointGroup& group : study.groups) {
        for (const Point& point : group.points) totals_.measured += Rounds(study, point) > 0;
      }
    }
    return std::move(totals_);
  }

 private:
  struct Step {
    std::size_t study;
    const PointGroup* group;
    const Point* point;
  };

  Results& ResultsOf(const Study& study) { return totals_.results[study.name]; }
  std::size_t Rounds(const Study& study, const Point& point) {
    return ResultsOf(study).rounds(point.line());
  }
  bool Failed(const Study& study, const Point& point) {
    return ResultsOf(study).failures().contains(point.line());
  }

  Status LoadEarlierRuns() {
    for (const Study& study : studies_) {
      std::vector<RawRun> runs;
      SLIM_ASSIGN(RunLog log, RunLog::Open(options_.folder, study.name, runs));
      logs_.push_back(std::move(log));
      std::map<std::string, std::string> inputs;  // by point
      for (const PointGroup& group : study.groups) {
        for (const Point& point : group.points) inputs[point.line()] = point.inputs;
      }
      ResultsOf(study);  // creates the entry even if it stays empty
      for (RawRun& run : runs) {
        const auto known = inputs.find(run.point);
        if (known == inputs.end()) continue;
        if (run.build != options_.build || run.inputs != known->second) {
          ++totals_.left_out;
          continue;
        }
        totals_.spent_s += run.seconds;
        ++totals_.runs;
        ++totals_.earlier;
        AddReport(study, run.point, std::move(run.report), run.verified);
      }
    }
    return {};
  }

  // `verified`: an earlier run has verified the point.
  void AddReport(const Study& study, const std::string& line, JsonValue report, bool verified) {
    Results& results = ResultsOf(study);
    if (verified || report.IsTrue("/verified")) results.Verify(line);
    results.Add(line, std::move(report));
  }

  // The number of complete rounds: the fewest runs of any point of the group that has not failed.
  std::size_t RoundsOf(const Study& study, const PointGroup& group) {
    std::size_t rounds = options_.rounds;
    for (const Point& point : group.points) {
      if (!Failed(study, point)) rounds = std::min(rounds, Rounds(study, point));
    }
    return rounds;
  }

  bool Done(const Study& study, const PointGroup& group) {
    return std::all_of(group.points.begin(), group.points.end(), [&](const Point& point) {
      if (Failed(study, point)) return true;
      if (Rounds(study, point) >= options_.rounds) return true;
      const auto spread = ResultsOf(study).Of(point, group.measure);
      return spread && IsTight(*spread);
    });
  }

  // The next point to run: from the group with the fewest rounds, unless its medians are tight.
  // Nothing when all groups are done.
  std::optional<Step> NextStep() {
    std::optional<Step> next;
    std::size_t fewest = options_.rounds;
    for (std::size_t s = 0; s < studies_.size(); ++s) {
      for (const PointGroup& group : studies_[s].groups) {
        const std::size_t rounds = RoundsOf(studies_[s], group);
        if (rounds >= fewest || Done(studies_[s], group)) continue;
        const auto point =
            std::find_if(group.points.begin(), group.points.end(), [&](const Point& one) {
              return !Failed(studies_[s], one) && Rounds(studies_[s], one) == rounds;
            });
        next = {s, &group, &*point};
        fewest = rounds;
      }
    }
    return next;
  }

  void Show(const Step& next) {
    std::size_t measured = 0;
    std::size_t tight = 0;
    for (const Study& study : studies_) {
      for (const PointGroup& group : study.groups) {
        if (Done(study, group)) tight += group.points.size();
        for (const Point& point : group.points) {
          measured += Rounds(study, point) > 0 || Failed(study, point);
        }
      }
    }
    const std::size_t round = Rounds(studies_[next.study], *next.point) + 1;
    progress_.Show(fmt::format(
        "{} of {} points measured, {} tight; {}: {} {}, round {}; at most {} left", measured,
        totals_.points, tight, studies_[next.study].name, next.group->name, next.point->label,
        round, FormatSeconds(std::max(0.0, options_.budget_s - totals_.spent_s))));
  }

  std::vector<std::string> WordsOf(const Point& point, const char* more = nullptr) const {
    std::vector<std::string> words;
    for (const std::string& word : options_.launcher) {
      words.push_back(word == "{nodes}" ? std::to_string(point.nodes) : word);
    }
    words.push_back(point.program.empty() ? options_.program : point.program);
    words.insert(words.end(), point.words.begin(), point.words.end());
    words.emplace_back("--json");
    if (more != nullptr) words.emplace_back(more);
    return words;
  }

  // Verifies the point with a separate run before the measured ones. Returns false if a signal asks
  // to stop.
  Result<bool> VerifyPoint(const Study& study, const Point& point) {
    const double left_s = options_.budget_s - totals_.spent_s;
    SLIM_ASSIGN(const ChildEnd end, RunChild(WordsOf(point, "--verify"), std::max(left_s, 0.0)));
    if (end.stopped) return false;
    totals_.spent_s += end.seconds;
    if (end.timed_out) return true;  // not verified; the page says so
    if (end.code == 0) {
      ResultsOf(study).Verify(point.line());
    } else {
      ResultsOf(study).Fail(point.line(), end.last_line);
    }
    return true;
  }

  // Returns false if a signal asks to stop.
  Result<bool> RunPoint(const Step& next) {
    const Study& study = studies_[next.study];
    const std::string line = next.point->line();
    if (CanVerify(*next.point) && Rounds(study, *next.point) == 0) {
      SLIM_ASSIGN(const bool go_on, VerifyPoint(study, *next.point));
      if (!go_on || Failed(study, *next.point)) return go_on;
    }
    const std::vector<std::string> words = WordsOf(*next.point);
    const std::string began = NowUtc();
    // A point that takes too long must not use up the time of all others.
    const double left_s = options_.budget_s - totals_.spent_s;
    const double limit_s = std::min(left_s, std::max(kLeastLimitS, left_s / 4));
    SLIM_ASSIGN(const ChildEnd end, RunChild(words, limit_s));
    if (end.stopped) return false;
    totals_.spent_s += end.seconds;
    if (end.timed_out) {
      // If only the remaining budget cut the run off, the point counts as not reached.
      if (limit_s >= left_s && totals_.runs > 0) return true;
      ++totals_.too_long;
      ResultsOf(study).Fail(line, fmt::format("not done in {}; a larger --budget allows more time",
                                              FormatSeconds(limit_s)));
      return true;
    }
    std::string text = end.out;
    while (text.ends_with('\n')) text.pop_back();
    auto report = end.code == 0 ? ParseJson(text, "what it printed")
                                : Result<JsonValue>(InputError("{}", end.last_line));
    if (!report) {
      ResultsOf(study).Fail(line, report.error().message);
      return true;
    }
    SLIM_TRY(logs_[next.study].Add({.study = study.name,
                                    .point = line,
                                    .build = options_.build,
                                    .inputs = next.point->inputs,
                                    .began = began,
                                    .seconds = end.seconds,
                                    .verified = ResultsOf(study).verified(line),
                                    .report = {}},
                                   text));
    ++totals_.runs;
    AddReport(study, line, *std::move(report), false);
    return true;
  }

  const std::vector<Study>& studies_;
  const RunnerOptions& options_;
  std::deque<RunLog> logs_;  // by study
  RunTotals totals_;
  Progress progress_{"experiment"};
};

}  // namespace

Result<RunTotals> RunStudies(const std::vector<Study>& studies, const RunnerOptions& options) {
  return Runner(studies, options).Run();
}

}  // namespace slimgraph::experiment
