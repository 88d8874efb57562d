// Runs a program to its end, and no longer than allowed.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph::experiment {

struct ChildEnd {
  int code = 0;  // exit code, or 128 + signal
  bool timed_out = false;
  bool stopped = false;  // a signal asked this process to stop
  double seconds = 0;
  std::string out;
  std::string last_line;  // of standard error: what it says of a failure
};

// `words` starts with the program, looked for in PATH where it has no slash. What it has started
// is ended with it.
Result<ChildEnd> RunChild(const std::vector<std::string>& words, double limit_s);

// While this object lives, SIGINT, SIGTERM and SIGHUP are noted, and end RunChild in order.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal; 0: none has come.
  static int received();

 private:
  struct sigaction before_[3];
};

}  // namespace slimgraph::experiment
