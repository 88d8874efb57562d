// What has changed between two sets of runs, beyond the noise between runs of the same set.
#pragma once

#include <string>
#include <vector>

#include "experiment/spread.h"
#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

struct Change {
  enum class Kind { kBetter, kWorse, kAnswer };  // kAnswer: the result itself differs
  Kind kind;
  std::string point;    // which run: the command and its options
  std::string measure;  // a path in the report, such as time/run_s
  Spread before;
  Spread after;
  double by = 0;  // relative change of the median: 0.1 for a tenth more
};

struct Comparison {
  std::size_t points = 0;    // that both sets have
  std::size_t measures = 0;  // of these points, in total
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
  bool other_options = false;  // two single runs with different options
  bool single_runs = false;    // some points have one run, so their noise is unknown
  std::vector<Change> changes;

  // The number of measures that are worse by more than `threshold`, plus changed answers.
  std::size_t failures(double threshold) const;
};

// `before` and `after` are files with one report or with one JSON object per line, or folders of an
// experiment. Runs are matched by command and options; two files of one run each always match. For
// points with a single run, changes up to `threshold` are ignored.
Result<Comparison> Compare(const std::string& before, const std::string& after, double threshold);

std::string Describe(const Comparison& comparison, double threshold);

}  // namespace slimgraph::experiment
