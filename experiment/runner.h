// Carries out studies: every point in turn with those that it is compared with, round after round,
// until all medians are tight or the time is up. What was run before is taken from the folder.
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
  double budget_s = 600;              // with what was spent in this folder before
  std::size_t rounds = 15;            // the most of each point
  std::string program;                // what runs a point's words
  std::vector<std::string> launcher;  // before it, with {nodes} for their number; or nothing
  std::string build;                  // of the program; runs of another do not count
};

enum class RunnerEnd { kAllTight, kBudgetSpent, kStopped };

struct Carried {
  RunnerEnd end = RunnerEnd::kAllTight;
  std::size_t points = 0;
  std::size_t measured = 0;  // of them, at least once
  std::size_t runs = 0;      // that count, of this time and earlier ones
  std::size_t earlier = 0;   // of these
  std::size_t too_long = 0;  // points that were given up
  std::size_t left_out = 0;  // of another build, or on other graphs
  double spent_s = 0;
  std::map<std::string, Results> results;  // by study
};

// An error ends it where runs cannot be kept; those before are.
Result<Carried> CarryOut(const std::vector<Study>& studies, const RunnerOptions& options);

}  // namespace slimgraph::experiment
