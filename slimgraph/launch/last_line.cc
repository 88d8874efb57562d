#include "slimgraph/launch/last_line.h"

#include <unistd.h>

namespace slimgraph {
namespace {

FailureHook& Hook() {
  static FailureHook hook;
  return hook;
}

}  // namespace

void SetFailureHook(FailureHook hook) { Hook() = std::move(hook); }

void WriteLastLine(int exit_code, const std::string& line) {
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  if (exit_code != 0 && !line.empty() && Hook()) Hook()(exit_code, line);
}

}  // namespace slimgraph
