// A whole experiment: graphs are looked at, studies carried out, and what came of them is left in a
// folder: index.html, raw/*.jsonl, summary.json, svg/*.svg, csv/*.csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/runner.h"
#include "slimgraph/base/result.h"
#include "slimgraph/stats/report.h"

namespace slimgraph::experiment {

struct ExperimentOptions {
  std::string name;                 // of a study, or "all"
  std::vector<std::string> graphs;  // files; without any, one is made
  std::string folder;
  double budget_s = 600;
  std::size_t rounds = 15;  // the most of each point; fewer where they agree
  bool small = false;
  bool csv = false;
  NodeId nodes = 4;
  std::uint32_t threads = 1;
  std::string network = "fdr";
  std::string transport;
  bool shares = true;             // nodes are given shares of a processor, where that is possible
  std::uint64_t node_memory = 0;  // 0: no limit
  std::string plain_program;      // `make plain`'s; "": beside this program
  std::string launcher;           // "srun -n {nodes}"; "": nodes are processes here
};

struct Outcome {
  Carried carried;
  std::vector<std::string> answers;   // a line for each figure
  std::vector<std::string> warnings;  // what stands in the way of trusting them
  std::string page;                   // the file
  Report summary{"experiment"};
};

// The same command line for the page, as it was typed.
Result<Outcome> RunExperiment(const ExperimentOptions& options, const std::string& command_line);

}  // namespace slimgraph::experiment
