#include "apps/print.h"

#include <cstdio>
#include <memory>

#include "apps/job_runner.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph {

int Print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return 0;
  return Complain({ErrorKind::kEnvironment, "cannot write to standard output"});
}

ProgressHook ShowProgress(const char* what) {
  const auto progress = std::make_shared<Progress>(what);
  return [progress](std::uint64_t done, std::uint64_t total) { progress->Update(done, total); };
}

}  // namespace slimgraph
