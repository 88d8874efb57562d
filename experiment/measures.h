// The measured numbers of a report, each with the direction that is better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct Measure {
  std::string path;  // as time/run_s
  bool less_is_better = true;
  std::vector<double> samples;  // several where the run repeated itself
};

// The number under a path like "/time/run_s"; of a list by node, what the fullest holds, and of
// processor times the sum.
std::optional<double> ValueAt(const JsonValue& report, const std::string& path);

// All that a report measures and that a user wants small or large.
std::vector<Measure> MeasuresOf(const JsonValue& report);

// What the run has found, in numbers that do not depend on the run; by path.
std::vector<std::pair<std::string, double>> AnswersOf(const JsonValue& report);

}  // namespace slimgraph::experiment
