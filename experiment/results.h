// What was measured at the points of a study.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/spread.h"
#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct Point {
  std::string label;               // as "(4,2)"
  std::vector<std::string> words;  // the command line, without the program and --json
  std::uint32_t nodes = 1;         // that it asks for, which a launcher has to start
  std::string inputs = {};         // what its graph's file is; runs on another do not count
  std::string program = {};        // another than slimgraph itself

  std::string line() const;     // as a shell takes it, without slimgraph; what a point is known by
  std::string command() const;  // all of it
};

class Results {
 public:
  void Add(const std::string& line, JsonValue report);
  void Fail(const std::string& line, std::string why);

  std::size_t rounds(const std::string& line) const;
  const std::vector<JsonValue>& reports(const std::string& line) const;
  // Why there is nothing.
  const std::map<std::string, std::string>& failures() const { return failures_; }

  // Of the number under `path`, which is as ValueAt() has it; times `factor`.
  std::optional<Spread> Of(const Point& point, const std::string& path, double factor = 1) const;
  // Over the baseline's, round by round, so that what disturbs both does not count.
  std::optional<Spread> Ratio(const Point& point, const Point& baseline,
                              const std::string& path) const;

 private:
  std::map<std::string, std::vector<JsonValue>> reports_;  // by line; in the order of the rounds
  std::map<std::string, std::string> failures_;
};

}  // namespace slimgraph::experiment
