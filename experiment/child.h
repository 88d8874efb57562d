// Runs a program as a child process until it ends or a time limit is reached.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

struct ChildEnd {
  int code = 0;  // exit code, or 128 + signal
  bool timed_out = false;
  bool stopped = false;  // this process received a signal that asks it to stop
  double seconds = 0;
  std::string out;
  std::string last_line;  // of standard error: normally the error message
};

// `words` starts with the program, which is searched in PATH if it has no slash. When the limit is
// reached or a signal arrives, the child's whole process group is ended.
Result<ChildEnd> RunChild(const std::vector<std::string>& words, double limit_s);

// While this object exists, SIGINT, SIGTERM and SIGHUP are recorded; RunChild then ends its child
// in an orderly way.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that was received, or 0.
  static int received();

 private:
  struct sigaction before_[3];
};

}  // namespace slimgraph::experiment
