// Carries out studies. In each round, every point runs next to the points that it is compared with,
// until all medians are tight or the time is up. Earlier runs in the folder are reused.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/results.h"
#include "experiment/study.h"
#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

struct RunnerOptions {
  std::string folder;
  double budget_s = 600;              // including the time spent in this folder earlier
  std::size_t rounds = 15;            // the most per point
  std::string program;                // what runs a point's words
  std::vector<std::string> launcher;  // before the program, with {nodes} for their number; or empty
  std::string build;                  // stamp of the program; runs of other builds are ignored
};

enum class RunnerEnd { kAllTight, kBudgetSpent, kStopped };

struct RunTotals {
  RunnerEnd end = RunnerEnd::kAllTight;
  std::size_t points = 0;
  std::size_t measured = 0;  // points with at least one run
  std::size_t runs = 0;      // valid runs, including earlier ones
  std::size_t earlier = 0;   // valid runs from earlier invocations
  std::size_t too_long = 0;  // points whose runs took too long
  std::size_t left_out = 0;  // runs of another build or on other graphs
  double spent_s = 0;
  std::map<std::string, Results> results;  // by study
};

// Returns an error if runs cannot be stored; runs stored before are kept.
Result<RunTotals> RunStudies(const std::vector<Study>& studies, const RunnerOptions& options);

}  // namespace slimgraph::experiment
