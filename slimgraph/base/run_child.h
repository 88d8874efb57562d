// Runs a program as a child process until it ends or a time limit is reached.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph {

struct ChildEnd {
  int code = 0;  // exit code, or 128 + signal
  bool timed_out = false;
  double seconds = 0;
  std::string out;
  std::string last_line;  // of standard error: normally the error message
};

// `words` starts with the program, which is searched in PATH if it has no slash. When the limit is
// reached, the child's whole process group is ended. `input` becomes the child's standard input, at
// most 4096 bytes.
Result<ChildEnd> RunChild(const std::vector<std::string>& words, double limit_s,
                          const std::string& input = "");

}  // namespace slimgraph
