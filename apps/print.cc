#include "apps/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "apps/job/job_runner.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph {

Status WriteResult(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return {};
  }
  return EnvironmentError("cannot write the result to standard output: {}", std::strerror(errno));
}

int Print(std::string_view text, int code) {
  const Status written = WriteResult(text);
  return written ? code : PrintError(written.error());
}

ProgressHook ShowProgress(const char* what) {
  const auto progress = std::make_shared<Progress>(what);
  return [progress](std::uint64_t done, std::uint64_t total) { progress->Update(done, total); };
}

}  // namespace slimgraph
