// What has changed between two sets of runs, beyond what such runs differ by among themselves.
#pragma once

#include <string>
#include <vector>

#include "experiment/spread.h"
#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

struct Change {
  enum class Kind { kBetter, kWorse, kAnswer };  // kAnswer: the result itself is another
  Kind kind;
  std::string point;    // which run; the command and its options
  std::string measure;  // a path of the report, as time/run_s
  Spread before;
  Spread after;
  double by = 0;  // of the median, relative: 0.1 for a tenth more
};

struct Comparison {
  std::size_t points = 0;    // that both have
  std::size_t measures = 0;  // of them, all together
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
  bool other_options = false;  // two single runs that were not asked for the same
  bool single_runs = false;    // so that nothing is known of the noise
  std::vector<Change> changes;

  // Worse by more than that, or another answer.
  std::size_t failures(double threshold) const;
};

// `before` and `after` are files of one report, or of one JSON object a line, or the folder of an
// experiment. Runs are matched by command and options; two files of one run each always match.
// Of what was run only once, changes up to `threshold` are left out.
Result<Comparison> Compare(const std::string& before, const std::string& after, double threshold);

std::string Describe(const Comparison& comparison, double threshold);

}  // namespace slimgraph::experiment
