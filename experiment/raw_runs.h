// The runs of an experiment as they are kept: a line of JSON for each, added as soon as it has
// ended, so that whatever happens to the experiment, what was measured is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/stats/json_value.h"

namespace slimgraph::experiment {

struct RawRun {
  std::string study;
  std::string point;   // its command line, without the program
  std::string build;   // of the program that ran
  std::string inputs;  // what the graph's file was
  std::string began;   // UTC
  double seconds = 0;  // from start to end, loading and all
  JsonValue report;    // what the run said with --json
};

// Every run in `path`: one report, one JSON object a line, or the folder of an experiment. A last
// line without its end was being written when something ended the experiment; it is left out.
Result<std::vector<RawRun>> ReadRuns(const std::string& path);

// The file of one study in an experiment's folder.
class RunLog {
 public:
  // Cuts off a line that was never finished. `runs` gets what is there.
  static Result<RunLog> Open(const std::string& folder, const std::string& study,
                             std::vector<RawRun>& runs);

  // `report` is the line that the run wrote. When there is no room, nothing is left of the line.
  Status Add(const RawRun& run, const std::string& report);

  const std::string& path() const { return path_; }

 private:
  RunLog(std::string path, UniqueFd fd, std::uint64_t bytes)
      : path_(std::move(path)), fd_(std::move(fd)), bytes_(bytes) {}

  std::string path_;
  UniqueFd fd_;
  std::uint64_t bytes_;
};

}  // namespace slimgraph::experiment
