#include "slimgraph/session/internal/processes.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint64_t kReapNs = 3'000'000'000;

}  // namespace

Status HelperProcesses::Start(const std::string& program, const Place& place) {
  program_ = program;
  const bool computes = place.node < place.compute;
  const auto process = StartProgram({program, computes ? kComputeNodeCommand : kMemoryNodeCommand},
                                    place, /*quiet=*/true, /*ends_with_starter=*/false);
  if (!process) {
    return EnvironmentError(
        "{}, which the session's other nodes run; install SlimGraph into a folder of PATH, or set "
        "SessionOptions.memory_node_program",
        process.error().message);
  }
  processes_.push_back(*process);
  return {};
}

Status HelperProcesses::CheckAllRun() {
  for (const pid_t process : processes_) {
    if (!HasEnded(process)) continue;
    std::erase(processes_, process);
    return EnvironmentError("a node ended before it joined: is '{}' this version's program?",
                            program_);
  }
  return {};
}

void HelperProcesses::Reap() {
  const std::uint64_t deadline_ns = NowNs() + kReapNs;
  while (std::erase_if(processes_, HasEnded), !processes_.empty() && NowNs() < deadline_ns) {
    SleepFor(std::chrono::milliseconds(1));
  }
  for (const pid_t process : processes_) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  processes_.clear();
}

}  // namespace slimgraph::internal
