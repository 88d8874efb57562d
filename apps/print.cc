#include "apps/print.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/stats/progress.h"

namespace slimgraph {
namespace {

Mutex results_mutex;
bool has_results = false;

// Returns false if there were some before.
bool NoteResults() {
  const std::lock_guard lock(results_mutex);
  return !std::exchange(has_results, true);
}

Status Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return {};
  }
  return EnvironmentError("cannot write the result to standard output: {}", std::strerror(errno));
}

}  // namespace

bool PreventResults() {
  results_mutex.lock();
  if (!has_results) return true;
  results_mutex.unlock();
  return false;
}

Status WriteResult(std::string_view text) {
  NoteResults();
  return Write(text);
}

int Print(std::string_view text, int code) {
  const Status written = WriteResult(text);
  return written ? code : PrintError(written.error());
}

void PrintFailureObject(int exit_code, std::string_view line) {
  if (!NoteResults()) return;
  constexpr std::array<const char*, 5> kKinds = {"", "verification", "usage", "input",
                                                 "environment"};
  constexpr std::string_view kPrefix = "slimgraph: ";
  if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
  if (line.ends_with('\n')) line.remove_suffix(1);
  Report report(TheInvocation().command);
  SetOptions(report);
  const auto kind = static_cast<std::size_t>(exit_code);
  report.Set("/error/kind", std::string(kind < kKinds.size() ? kKinds[kind] : "interrupted"));
  report.Set("/error/exit_code", std::int64_t{exit_code});
  report.Set("/error/message", std::string(line));
  static_cast<void>(Write(ToJson(report) + "\n"));
}

ProgressHook ShowProgress(const char* what) {
  const auto progress = std::make_shared<Progress>(what);
  return [progress](std::uint64_t done, std::uint64_t total) { progress->Update(done, total); };
}

}  // namespace slimgraph
