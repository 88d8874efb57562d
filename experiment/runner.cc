#include "experiment/runner.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <optional>

#include "experiment/child.h"
#include "experiment/raw_runs.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph::experiment {
namespace {

constexpr double kLeastLimitS = 10;

std::string NowUtc() {
  const std::time_t now = std::time(nullptr);
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

  Result<Carried> Run() {
    SLIM_TRY(TakeEarlier());
    for (const Study& study : studies_) {
      for (const Turn& turn : study.turns) carried_.points += turn.points.size();
    }
    while (const auto next = Next()) {
      if (carried_.spent_s >= options_.budget_s) {
        carried_.end = RunnerEnd::kBudgetSpent;
        break;
      }
      Show(*next);
      SLIM_ASSIGN(const bool go_on, RunPoint(*next));
      if (go_on) continue;
      carried_.end = RunnerEnd::kStopped;
      break;
    }
    for (const Study& study : studies_) {
      for (const Turn& turn : study.turns) {
        for (const Point& point : turn.points) carried_.measured += Rounds(study, point) > 0;
      }
    }
    return std::move(carried_);
  }

 private:
  struct Step {
    std::size_t study;
    const Turn* turn;
    const Point* point;
  };

  Results& ResultsOf(const Study& study) { return carried_.results[study.name]; }
  std::size_t Rounds(const Study& study, const Point& point) {
    return ResultsOf(study).rounds(point.line());
  }
  bool Failed(const Study& study, const Point& point) {
    return ResultsOf(study).failures().contains(point.line());
  }

  Status TakeEarlier() {
    for (const Study& study : studies_) {
      std::vector<RawRun> runs;
      SLIM_ASSIGN(RunLog log, RunLog::Open(options_.folder, study.name, runs));
      logs_.push_back(std::move(log));
      std::map<std::string, std::string> inputs;  // by point
      for (const Turn& turn : study.turns) {
        for (const Point& point : turn.points) inputs[point.line()] = point.inputs;
      }
      ResultsOf(study);  // there, even if it stays empty
      for (RawRun& run : runs) {
        const auto known = inputs.find(run.point);
        if (known == inputs.end()) continue;
        if (run.build != options_.build || run.inputs != known->second) {
          ++carried_.left_out;
          continue;
        }
        carried_.spent_s += run.seconds;
        ++carried_.runs;
        ++carried_.earlier;
        ResultsOf(study).Add(run.point, std::move(run.report));
      }
    }
    return {};
  }

  // The rounds that all points of a turn have which can be run.
  std::size_t RoundsOf(const Study& study, const Turn& turn) {
    std::size_t rounds = options_.rounds;
    for (const Point& point : turn.points) {
      if (!Failed(study, point)) rounds = std::min(rounds, Rounds(study, point));
    }
    return rounds;
  }

  bool Done(const Study& study, const Turn& turn) {
    return std::all_of(turn.points.begin(), turn.points.end(), [&](const Point& point) {
      if (Failed(study, point)) return true;
      if (Rounds(study, point) >= options_.rounds) return true;
      const auto spread = ResultsOf(study).Of(point, turn.measure);
      return spread && IsTight(*spread);
    });
  }

  // The first point of the turn that has had the fewest rounds; none when all is tight.
  std::optional<Step> Next() {
    std::optional<Step> next;
    std::size_t fewest = options_.rounds;
    for (std::size_t s = 0; s < studies_.size(); ++s) {
      for (const Turn& turn : studies_[s].turns) {
        const std::size_t rounds = RoundsOf(studies_[s], turn);
        if (rounds >= fewest || Done(studies_[s], turn)) continue;
        const auto point =
            std::find_if(turn.points.begin(), turn.points.end(), [&](const Point& one) {
              return !Failed(studies_[s], one) && Rounds(studies_[s], one) == rounds;
            });
        next = {s, &turn, &*point};
        fewest = rounds;
      }
    }
    return next;
  }

  void Show(const Step& next) {
    std::size_t measured = 0;
    std::size_t tight = 0;
    for (const Study& study : studies_) {
      for (const Turn& turn : study.turns) {
        if (Done(study, turn)) tight += turn.points.size();
        for (const Point& point : turn.points) {
          measured += Rounds(study, point) > 0 || Failed(study, point);
        }
      }
    }
    const std::size_t round = Rounds(studies_[next.study], *next.point) + 1;
    progress_.Show(fmt::format(
        "{} of {} points measured, {} tight; {}: {} {}, round {}; at most {} left", measured,
        carried_.points, tight, studies_[next.study].name, next.turn->name, next.point->label,
        round, FormatSeconds(std::max(0.0, options_.budget_s - carried_.spent_s))));
  }

  // False when a signal asks to stop.
  Result<bool> RunPoint(const Step& next) {
    const Study& study = studies_[next.study];
    const std::string line = next.point->line();
    std::vector<std::string> words;
    for (const std::string& word : options_.launcher) {
      words.push_back(word == "{nodes}" ? std::to_string(next.point->nodes) : word);
    }
    const std::string& own = next.point->program;
    words.push_back(own.empty() ? options_.program : own);
    words.insert(words.end(), next.point->words.begin(), next.point->words.end());
    words.emplace_back("--json");
    const std::string began = NowUtc();
    // One that takes too long must not take all the time of the others.
    const double left_s = options_.budget_s - carried_.spent_s;
    const double limit_s = std::min(left_s, std::max(kLeastLimitS, left_s / 4));
    SLIM_ASSIGN(const ChildEnd end, RunChild(words, limit_s));
    if (end.stopped) return false;
    carried_.spent_s += end.seconds;
    if (end.timed_out) {
      // Was it cut off only because the time was up? Then it is missing, as others are.
      if (limit_s >= left_s && carried_.runs > 0) return true;
      ++carried_.too_long;
      ResultsOf(study).Fail(line,
                            fmt::format("not done in {}, of which a larger --budget gives more",
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
                                    .report = {}},
                                   text));
    ++carried_.runs;
    ResultsOf(study).Add(line, *std::move(report));
    return true;
  }

  const std::vector<Study>& studies_;
  const RunnerOptions& options_;
  std::deque<RunLog> logs_;  // by study
  Carried carried_;
  Progress progress_{"experiment"};
};

}  // namespace

Result<Carried> CarryOut(const std::vector<Study>& studies, const RunnerOptions& options) {
  return Runner(studies, options).Run();
}

}  // namespace slimgraph::experiment
