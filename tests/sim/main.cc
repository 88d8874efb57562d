// simulate [--seeds N] [--seconds S] [--seed K] [SCENARIO…]: runs scenarios with seeds from 1 on,
// in turn, until each has had N seeds or S seconds have passed. With --seed, runs that seed alone
// and tells its story. The last line is the count of scenarios.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/scale.h"
#include "tests/sim/scenario.h"

namespace slimgraph::test {
namespace {

constexpr std::uint64_t kSeedsAtOnce = 100;
constexpr unsigned kRealLimitS = 120;  // for kSeedsAtOnce seeds

// What a child process tells its parent, also if it crashes.
struct Progress {
  std::uint64_t seed;
  std::uint64_t done;
  std::uint64_t trace;
  char failure[1024];
};

struct Run {
  sim::RunOutcome outcome;
  std::vector<Event> story;
};

Run RunSeed(const Scenario& scenario, std::uint64_t seed) {
  World world({.seed = seed});
  const auto check = scenario.prepare(world);
  Run run{world.scheduler().Run(), {}};
  if (run.outcome.failure.empty()) run.outcome.failure = check();
  run.story = world.story();
  return run;
}

void RunSeeds(const Scenario& scenario, std::uint64_t first, std::uint64_t count, Progress& told) {
  ::alarm(kRealLimitS);
  // Nodes that end write why.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) std::abort();
  for (told.seed = first; told.seed < first + count; ++told.seed) {
    const Run run = RunSeed(scenario, told.seed);
    told.trace ^= run.outcome.trace * told.seed;
    if (!run.outcome.failure.empty()) {
      std::strncpy(told.failure, run.outcome.failure.c_str(), sizeof told.failure - 1);
      return;
    }
    ++told.done;
  }
}

// Runs seeds in a process of their own, so that a crash is a failure of its seed.
std::string RunApart(const Scenario& scenario, std::uint64_t first, std::uint64_t count,
                     Progress& told) {
  told = {};
  const pid_t child = ::fork();
  if (child == 0) {
    RunSeeds(scenario, first, count, told);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (told.failure[0] != '\0') return told.failure;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return fmt::format("not done after {} s", kRealLimitS);
  }
  return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

int TellStory(const Scenario& scenario, std::uint64_t seed) {
  const Run run = RunSeed(scenario, seed);
  fmt::print("{:>14} {:>5}  {}\n", "ms", "node", "what");
  for (const Event& event : run.story) {
    fmt::print("{:14.6f} {:5}  {}\n", static_cast<double>(event.at_ns) * 1e-6, event.node,
               event.what);
  }
  fmt::print("{}: seed {}: {}\n", scenario.name, seed,
             run.outcome.failure.empty() ? "passed" : run.outcome.failure);
  fmt::print("trace hash {:016x}, {} switches, {:.3f} s of simulated time\n", run.outcome.trace,
             run.outcome.switches, static_cast<double>(run.outcome.end_ns) * 1e-9);
  return run.outcome.failure.empty() ? 0 : 1;
}

struct Options {
  std::uint64_t seeds = 1000;
  double seconds = 1e9;
  std::uint64_t seed = 0;
  std::vector<std::string> names;
};

int RunAll(const Options& options) {
  ScenarioFolder();  // one for all processes
  auto* const told = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<const Scenario*> chosen;
  // Those of engines are run by name alone: not all of their seeds pass yet.
  const std::vector<Scenario> scenarios = options.names.empty() ? JobScenarios() : AllScenarios();
  for (const Scenario& scenario : scenarios) {
    const bool named =
        std::find(options.names.begin(), options.names.end(), scenario.name) != options.names.end();
    if (options.names.empty() || named) chosen.push_back(&scenario);
  }
  if (chosen.empty()) {
    fmt::print(stderr, "simulate: there is no such scenario\n");
    return 2;
  }
  struct Total {
    std::uint64_t seeds = 0;
    std::uint64_t trace = 0;
    std::string failure;
  };
  std::map<const Scenario*, Total> totals;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (std::uint64_t first = 1; first <= options.seeds; first += kSeedsAtOnce) {
    for (const Scenario* const scenario : chosen) {
      Total& total = totals[scenario];
      if (!total.failure.empty() || (first > 1 && elapsed_s() > options.seconds)) continue;
      const std::uint64_t count = std::min(kSeedsAtOnce, options.seeds + 1 - first);
      const std::string failure = RunApart(*scenario, first, count, *told);
      total.seeds += told->done;
      total.trace ^= told->trace;
      if (failure.empty()) continue;
      total.failure = fmt::format("seed {}: {}", told->seed, failure);
    }
  }
  int failed = 0;
  for (const Scenario* const scenario : chosen) {
    const Total& total = totals[scenario];
    fmt::print("{:20} {:8} seeds passed, trace hash {:016x}\n", scenario->name, total.seeds,
               total.trace);
    if (total.failure.empty()) continue;
    ++failed;
    fmt::print("  FAILED {}\n", total.failure);
  }
  fmt::print("{} passed, {} failed\n", static_cast<int>(chosen.size()) - failed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int Simulate(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--seeds" && has_value) {
      options.seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seconds" && has_value) {
      options.seconds = std::strtod(argv[++i], nullptr);
    } else if (word == "--seed" && has_value) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word.starts_with("-")) {
      fmt::print(stderr, "simulate: {} is unknown or needs a value\n", word);
      return 2;
    } else {
      options.names.push_back(word);
    }
  }
  if (options.seed == 0) return RunAll(options);
  for (const Scenario& scenario : AllScenarios()) {
    if (options.names.empty() || options.names[0] == scenario.name) {
      return TellStory(scenario, options.seed);
    }
  }
  fmt::print(stderr, "simulate: there is no such scenario\n");
  return 2;
}

}  // namespace slimgraph::test

int main(int argc, char** argv) {
  // The same addresses in each run.
  if ((::personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0 &&
      ::personality(ADDR_NO_RANDOMIZE) >= 0) {
    ::execv("/proc/self/exe", argv);
  }
  if (argc > 1 && std::strcmp(argv[1], "scale") == 0) {
    return slimgraph::test::MeasureScale(argc - 2, argv + 2);
  }
  return slimgraph::test::Simulate(argc, argv);
}
