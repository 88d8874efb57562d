// The measured numbers of a report, each with the direction in which it improves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct Measure {
  std::string path;  // such as time/run_s
  bool less_is_better = true;
  std::vector<double> samples;  // several if the run repeated the computation
};

// The number at a path such as "/time/run_s". For a list by node, it is the maximum of memory peaks
// and the sum of everything else.
std::optional<double> ValueAt(const JsonValue& report, const std::string& path);

// Every measure of a report for which smaller or larger is better.
std::vector<Measure> MeasuresOf(const JsonValue& report);

// The result's numbers that do not depend on the run, by path.
std::vector<std::pair<std::string, double>> AnswersOf(const JsonValue& report);

}  // namespace slimgraph::experiment
