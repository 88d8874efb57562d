#include "experiment/results.h"

#include "experiment/measures.h"

namespace slimgraph::experiment {

std::string Point::line() const {
  std::string line = program;
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string::npos;
    if (!line.empty()) line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string Point::command() const { return program.empty() ? "slimgraph " + line() : line(); }

void Results::Add(const std::string& line, JsonValue report) {
  reports_[line].push_back(std::move(report));
}

void Results::Fail(const std::string& line, std::string why) { failures_[line] = std::move(why); }

std::size_t Results::rounds(const std::string& line) const { return reports(line).size(); }

const std::vector<JsonValue>& Results::reports(const std::string& line) const {
  static const std::vector<JsonValue> none;
  const auto found = reports_.find(line);
  return found == reports_.end() ? none : found->second;
}

std::optional<Spread> Results::Of(const Point& point, const std::string& path,
                                  double factor) const {
  std::vector<double> samples;
  for (const JsonValue& report : reports(point.line())) {
    if (const auto value = ValueAt(report, path)) samples.push_back(*value * factor);
  }
  if (samples.empty()) return std::nullopt;
  return SpreadOf(std::move(samples));
}

std::optional<Spread> Results::Ratio(const Point& point, const Point& baseline,
                                     const std::string& path) const {
  const auto& of_point = reports(point.line());
  const auto& of_baseline = reports(baseline.line());
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(of_point.size(), of_baseline.size()); ++round) {
    const auto value = ValueAt(of_point[round], path);
    const auto base = ValueAt(of_baseline[round], path);
    if (value && base && *base != 0) ratios.push_back(*value / *base);
  }
  if (ratios.empty()) return std::nullopt;
  return SpreadOf(std::move(ratios));
}

}  // namespace slimgraph::experiment
