#include "experiment/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "experiment/measures.h"
#include "experiment/raw_runs.h"
#include "slimgraph/base/units.h"

namespace slimgraph::experiment {
namespace {

// All runs of one point together.
struct RunPoint {
  std::string name;
  std::vector<JsonValue> reports;
};

// Reports of schema 1 have the given options alone, as texts; those of schema 2 have all options
// with their types, and name the given ones.
bool HasAllOptions(const JsonValue& report) { return report.NumberAt("/schema").value_or(0) >= 2; }

bool IsGiven(const JsonValue& report, const std::string& option) {
  const JsonValue* const given = report.Find("/given");
  if (given == nullptr || given->array() == nullptr) return false;
  return std::any_of(given->array()->begin(), given->array()->end(),
                     [&](const JsonValue& one) { return one.text() && *one.text() == option; });
}

std::string TextOf(const JsonValue& value) {
  if (value.text() != nullptr) return *value.text();
  if (const auto number = value.number()) return fmt::format("{}", *number);
  return value == JsonValue(JsonValue::Any(true)) ? "true" : "false";
}

bool IdentifiesRun(const std::string& option) {
  constexpr std::array<const char*, 4> kWhere = {"json", "output", "trace", "history"};
  return std::find(kWhere.begin(), kWhere.end(), option) == kWhere.end();
}

// Removes folders from paths, because each experiment has its graphs in its own folder.
std::string WithoutFolders(const std::string& words) {
  std::string without;
  std::size_t word = 0;  // where the last word begins
  for (const char c : words) {
    if (c == '/') {
      without.resize(word);
      continue;
    }
    without += c;
    if (c == ' ') word = without.size();
  }
  return without;
}

std::string NameOf(const RawRun& run) {
  std::string name = run.report.TextAt("/command");
  if (!run.point.empty()) return run.study + ": " + WithoutFolders(run.point);
  const JsonValue* const options = run.report.Find("/options");
  if (options != nullptr && options->object() != nullptr) {
    for (const auto& [option, value] : *options->object()) {
      const bool given =
          HasAllOptions(run.report) ? IsGiven(run.report, option) : value.text() != nullptr;
      if (!IdentifiesRun(option) || !given) continue;
      name += fmt::format(" {}={}", option, WithoutFolders(TextOf(value)));
    }
  }
  // A row of `txn sweep`.
  const std::string over = run.report.TextAt("/over");
  if (!over.empty()) {
    name += fmt::format(" {} {} {}={}", run.report.TextAt("/workload"),
                        run.report.TextAt("/protocol"), over, run.report.TextAt("/value"));
  }
  return name;
}

// Whether an option of a report of schema 1 has the value that one of schema 2 has.
bool SameValue(const JsonValue& old_value, const JsonValue& value) {
  const std::string text = WithoutFolders(TextOf(old_value));
  if (text == WithoutFolders(TextOf(value))) return true;
  const auto bytes = ParseBytes(text);
  return bytes && value.number() && static_cast<double>(*bytes) == *value.number();
}

// Whether a report of schema 1 and one of schema 2 are of the same command with the same options.
bool SameRun(const JsonValue& old_report, const JsonValue& report) {
  if (old_report.TextAt("/command") != report.TextAt("/command")) return false;
  for (const char* const path : {"/over", "/value", "/workload", "/protocol"}) {
    if (old_report.TextAt(path) != report.TextAt(path)) return false;
  }
  const JsonValue* const old_options = old_report.Find("/options");
  const JsonValue* const options = report.Find("/options");
  if (old_options == nullptr || options == nullptr) return old_options == options;
  for (const auto& [option, value] : *old_options->object()) {
    const JsonValue* const same = options->Find("/" + option);
    if (IdentifiesRun(option) && (same == nullptr || !SameValue(value, *same))) return false;
  }
  for (const auto& [option, value] : *options->object()) {
    const bool known = old_options->Find("/" + option) != nullptr;
    if (IdentifiesRun(option) && IsGiven(report, option) && !known) return false;
  }
  return true;
}

bool SamePoint(const RunPoint& a, const RunPoint& b) {
  if (a.name == b.name) return true;
  const JsonValue& of_a = a.reports.front();
  const JsonValue& of_b = b.reports.front();
  if (HasAllOptions(of_a) == HasAllOptions(of_b)) return false;
  return HasAllOptions(of_b) ? SameRun(of_a, of_b) : SameRun(of_b, of_a);
}

Result<std::vector<RunPoint>> ReadPoints(const std::string& path) {
  SLIM_ASSIGN(std::vector<RawRun> runs, ReadRuns(path));
  std::vector<RunPoint> points;
  for (RawRun& run : runs) {
    const std::string name = NameOf(run);
    auto found = std::find_if(points.begin(), points.end(),
                              [&](const RunPoint& point) { return point.name == name; });
    if (found == points.end()) found = points.insert(found, {name, {}});
    found->reports.push_back(std::move(run.report));
  }
  if (points.empty()) return InputError("{}: it contains no run", path);
  return points;
}

std::map<std::string, Measure> Gather(const RunPoint& point) {
  std::map<std::string, Measure> all;
  for (const JsonValue& report : point.reports) {
    for (Measure& measure : MeasuresOf(report)) {
      auto& samples =
          all.try_emplace(measure.path, Measure{measure.path, measure.less_is_better, {}})
              .first->second.samples;
      // If there are several runs, each counts as one sample.
      if (point.reports.size() == 1) {
        samples = measure.samples;
      } else {
        samples.push_back(SpreadOf(measure.samples).median);
      }
    }
  }
  return all;
}

bool SameGraph(const JsonValue& a, const JsonValue& b) {
  for (const char* const path : {"/graph/vertices", "/graph/edges", "/graph/directed"}) {
    const JsonValue* const of_a = a.Find(path);
    const JsonValue* const of_b = b.Find(path);
    if ((of_a == nullptr) != (of_b == nullptr) || (of_a != nullptr && !(*of_a == *of_b))) {
      return false;
    }
  }
  return true;
}

// Sums of floating-point numbers depend on their order, which depends on the nodes.
bool Alike(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

void CompareAnswers(const RunPoint& before, const RunPoint& after, Comparison& to) {
  const JsonValue& a = before.reports.front();
  const JsonValue& b = after.reports.front();
  if (!SameGraph(a, b)) return;
  const auto answers = AnswersOf(b);
  for (const auto& [path, value] : AnswersOf(a)) {
    const auto found = std::find_if(answers.begin(), answers.end(),
                                    [&, p = path](const auto& one) { return one.first == p; });
    if (found == answers.end() || Alike(value, found->second)) continue;
    to.changes.push_back(
        {Change::Kind::kAnswer, after.name, path, SpreadOf({value}), SpreadOf({found->second}), 0});
  }
}

void ComparePoints(const RunPoint& before, const RunPoint& after, double threshold,
                   Comparison& to) {
  ++to.points;
  const auto theirs = Gather(after);
  for (const auto& [path, measure] : Gather(before)) {
    const auto found = theirs.find(path);
    if (found == theirs.end()) continue;
    ++to.measures;
    const Spread a = SpreadOf(measure.samples);
    const Spread b = SpreadOf(found->second.samples);
    const bool single = a.samples == 1 || b.samples == 1;
    to.single_runs |= single;
    if (a.overlaps(b)) continue;
    const double by = a.median == 0 ? HUGE_VAL : b.median / a.median - 1;
    if (single && std::abs(by) <= threshold) continue;
    const bool better = (b.median < a.median) == measure.less_is_better;
    to.changes.push_back(
        {better ? Change::Kind::kBetter : Change::Kind::kWorse, after.name, path, a, b, by});
  }
}

std::string Text(const Spread& spread) {
  if (spread.samples == 1) return fmt::format("{:.6g}", spread.median);
  return fmt::format("{:.4g} ({:.4g}..{:.4g} of {})", spread.median, spread.low, spread.high,
                     spread.samples);
}

bool Fails(const Change& change, double threshold) {
  return change.kind == Change::Kind::kAnswer ||
         (change.kind == Change::Kind::kWorse && std::abs(change.by) > threshold);
}

}  // namespace

std::size_t Comparison::failures(double threshold) const {
  return static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(),
                    [&](const Change& change) { return Fails(change, threshold); }));
}

Result<Comparison> Compare(const std::string& before, const std::string& after, double threshold) {
  SLIM_ASSIGN(const auto a, ReadPoints(before));
  SLIM_ASSIGN(const auto b, ReadPoints(after));
  Comparison comparison;
  const bool two_runs = a.size() == 1 && b.size() == 1;
  comparison.other_options = two_runs && !SamePoint(a[0], b[0]);
  for (const RunPoint& point : a) {
    const auto same = std::find_if(b.begin(), b.end(), [&](const RunPoint& other) {
      return two_runs || SamePoint(point, other);
    });
    if (same == b.end()) {
      comparison.only_before.push_back(point.name);
      continue;
    }
    ComparePoints(point, *same, threshold, comparison);
    CompareAnswers(point, *same, comparison);
  }
  for (const RunPoint& point : b) {
    const auto same = std::find_if(a.begin(), a.end(), [&](const RunPoint& other) {
      return two_runs || SamePoint(point, other);
    });
    if (same == a.end()) comparison.only_after.push_back(point.name);
  }
  if (comparison.points == 0) {
    return InputError("{} and {} have no run in common: no command with the same options", before,
                      after);
  }
  return comparison;
}

std::string Describe(const Comparison& comparison, double threshold) {
  std::string text;
  if (comparison.other_options) text += "the two runs have different options\n";
  for (const Change& change : comparison.changes) {
    const char* const kind = change.kind == Change::Kind::kAnswer   ? "DIFFERS"
                             : change.kind == Change::Kind::kBetter ? "better"
                             : Fails(change, threshold)             ? "WORSE"
                                                                    : "worse";
    text += fmt::format("{:<8}{}\n        {}: {} -> {}", kind, change.point, change.measure,
                        Text(change.before), Text(change.after));
    if (change.kind != Change::Kind::kAnswer) text += fmt::format(", {:+.1f} %", change.by * 100);
    text += '\n';
  }
  for (const std::string& point : comparison.only_before) text += "only before: " + point + "\n";
  for (const std::string& point : comparison.only_after) text += "only after:  " + point + "\n";
  if (comparison.single_runs) {
    text +=
        "some points were run once, so their noise is unknown: only changes beyond the threshold "
        "are listed\n";
  }
  text += fmt::format("{} points, {} measures: {} changed, {} worse by more than {:g} %\n",
                      comparison.points, comparison.measures, comparison.changes.size(),
                      comparison.failures(threshold), threshold * 100);
  return text;
}

}  // namespace slimgraph::experiment
