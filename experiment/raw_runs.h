// The stored runs of an experiment: one line of JSON for each. A line is appended as soon as its
// run ends, so an aborted experiment keeps what it has measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/output_file.h"
#include "slimgraph/base/result.h"
#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct RawRun {
  std::string study;
  std::string point;      // its command line, without the program
  std::string build;      // stamp of the program that ran
  std::string inputs;     // stamp of the graph's file
  std::string began;      // UTC
  double seconds = 0;     // from start to end, including loading
  bool verified = false;  // an earlier run has verified the point's result
  JsonValue report;       // what the run printed with --json
};

// Reads every run in `path`: one report, one JSON object per line, or the folder of an experiment.
// In an experiment's file, an incomplete last line is ignored: the experiment was interrupted while
// it wrote the line.
Result<std::vector<RawRun>> ReadRuns(const std::string& path);

// The file of one study in an experiment's folder.
class RunLog {
 public:
  // Opens the file and cuts off an incomplete last line. `runs` receives the stored runs.
  static Result<RunLog> Open(const std::string& folder, const std::string& study,
                             std::vector<RawRun>& runs);

  // `report` is the line that the run printed. If the disk is full, no part of the line is left in
  // the file.
  Status Add(const RawRun& run, const std::string& report);

  const std::string& path() const { return file_.path(); }

 private:
  RunLog(OutputFile file, std::uint64_t bytes) : file_(std::move(file)), bytes_(bytes) {}

  OutputFile file_;
  std::uint64_t bytes_;
};

}  // namespace slimgraph::experiment
