// A whole experiment: inspects the graphs, carries out the studies, and writes the results into a
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
  std::vector<std::string> graphs;  // files; if empty, a graph is generated
  std::string folder;
  double budget_s = 600;
  std::size_t rounds = 15;  // the most per point; fewer once the medians are tight
  bool small = false;
  bool csv = false;
  NodeId nodes = 4;
  std::uint32_t threads = 1;
  std::string network = "fdr";
  std::string transport;
  bool shares = true;             // limit each node's share of a processor, if possible
  std::uint64_t node_memory = 0;  // 0: no limit
  std::string plain_program;      // built by `make plain`; "": the one beside this program
  std::string launcher;           // such as "srun -n {nodes}"; "": nodes are local processes
};

struct Outcome {
  RunTotals totals;
  std::vector<std::string> answers;   // a line for each figure
  std::vector<std::string> warnings;  // reasons to doubt the answers
  std::string page;                   // the file's path
  Report summary{"experiment"};
};

// `command_line` is shown on the page, as the user typed it.
Result<Outcome> RunExperiment(const ExperimentOptions& options, const std::string& command_line);

}  // namespace slimgraph::experiment
