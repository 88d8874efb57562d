#include "tests/sim/runs.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace slimgraph::test {
namespace {

// For all seeds of a process: of its processor, as the machine may be busy, and a far longer one in
// which it may be blocked.
constexpr unsigned kProcessorLimitS = 300;
constexpr unsigned kRealLimitS = 3'600;

void RunSeeds(const Scenario& scenario, std::uint64_t first, std::uint64_t count, Progress& told,
              const LeftOut& left_out) {
  const rlimit limit{kProcessorLimitS, kProcessorLimitS + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::alarm(kRealLimitS);
  // Nodes that end write why.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) std::abort();
  for (told.seed = first; told.seed < first + count; ++told.seed) {
    const Run run = RunSeed(scenario, told.seed, left_out);
    told.trace ^= run.outcome.trace * told.seed;
    told.faults = run.faults;
    if (!run.outcome.failure.empty()) {
      std::strncpy(told.failure, run.outcome.failure.c_str(), sizeof told.failure - 1);
      return;
    }
    ++told.done;
  }
}

}  // namespace

Run RunSeed(const Scenario& scenario, std::uint64_t seed, const LeftOut& left_out) {
  World world(seed, left_out);
  const auto check = scenario.prepare(world);
  Run run;
  run.outcome = world.scheduler().Run();
  if (run.outcome.failure.empty()) run.outcome.failure = check();
  run.story = world.story();
  run.faults = world.faults_begun();
  run.points_at_atomics = world.scheduler().points_at_atomics();
  return run;
}

std::string RunApart(const Scenario& scenario, std::uint64_t first, std::uint64_t count,
                     Progress& told, const LeftOut& left_out) {
  told = {};
  const pid_t child = ::fork();
  if (child == 0) {
    RunSeeds(scenario, first, count, told, left_out);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (told.failure[0] != '\0') return told.failure;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM) return fmt::format("not done after {} s", kRealLimitS);
  if (signal == SIGXCPU) return fmt::format("not done after {} s of a processor", kProcessorLimitS);
  return signal != 0 ? fmt::format("killed by signal {}", signal)
                     : fmt::format("exit code {}", WEXITSTATUS(status));
}

Progress& SharedProgress() {
  static auto* const shared = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

}  // namespace slimgraph::test
