// What was measured at the points of a study.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiment/spread.h"
#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct Point {
  std::string label;               // such as "(4,2)"
  std::vector<std::string> words;  // the command line, without the program and --json
  std::uint32_t nodes = 1;         // that the point asks for; a launcher must start as many
  std::string inputs = {};         // stamp of its graph's file; runs on another are ignored
  std::string program = {};        // instead of slimgraph itself

  std::string line() const;     // as typed in a shell, without slimgraph; identifies a point
  std::string command() const;  // the complete command line
};

class Results {
 public:
  void Add(const std::string& line, JsonValue report);
  void Fail(const std::string& line, std::string why);
  // Records a failure and removes the point's reports, so that they are not shown.
  void Withdraw(const std::string& line, std::string why) {
    reports_.erase(line);
    Fail(line, std::move(why));
  }
  // Records that the result of this point was verified.
  void Verify(const std::string& line) { verified_.insert(line); }

  std::size_t rounds(const std::string& line) const;
  const std::vector<JsonValue>& reports(const std::string& line) const;
  bool verified(const std::string& line) const { return verified_.contains(line); }
  // By point, why it has no reports.
  const std::map<std::string, std::string>& failures() const { return failures_; }

  // The spread of the number at `path` (see ValueAt), multiplied by `factor`.
  std::optional<Spread> Of(const Point& point, const std::string& path, double factor = 1) const;
  // The spread of the ratios to the baseline, taken round by round, so that disturbances of both
  // cancel.
  std::optional<Spread> Ratio(const Point& point, const Point& baseline,
                              const std::string& path) const;

 private:
  std::map<std::string, std::vector<JsonValue>> reports_;  // by line; in the order of the rounds
  std::map<std::string, std::string> failures_;
  std::set<std::string> verified_;  // lines
};

}  // namespace slimgraph::experiment
