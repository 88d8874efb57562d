// simulate [--from K] [--seeds N] [--seconds S] [SCENARIO…]: runs scenarios with seeds from K on (1
// by default), in turn, until each has had N seeds or S seconds have passed; with --until-failure,
// until one fails. The last line is the count of scenarios. With half of the seeds, threads
// interfere at operations on atomics too; with --atomics yes, with all; no: with none. With
// --transport NAME, all jobs use this one: sim, sim-datagrams, shm or tcp.
//
// simulate --seed K SCENARIO: runs that seed alone and tells its story. --shrink: finds the
// shortest run that still fails, and tells its story. What it prints leaves parts of a run out:
// --most-nodes N, --percent P of the work, --without-faults I,J, --order O of the threads.
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "slimgraph/base/split.h"
#include "tests/sim/runs.h"
#include "tests/sim/scale.h"

namespace slimgraph::test {
namespace {

constexpr std::uint64_t kSeedsAtOnce = 20;

struct Options {
  std::uint64_t from = 1;
  std::uint64_t seeds = 1000;
  double seconds = 1e9;
  std::uint64_t seed = 0;
  bool shrink = false;
  bool until_failure = false;
  LeftOut left_out;
  std::vector<std::string> names;
};

int TellStory(const Scenario& scenario, std::uint64_t seed, const LeftOut& left_out) {
  const Run run = RunSeed(scenario, seed, left_out);
  fmt::print("{:>14} {:>5}  {}\n", "ms", "node", "what");
  for (const Event& event : run.story) {
    fmt::print("{:14.6f} {:5}  {}\n", static_cast<double>(event.at_ns) * 1e-6, event.node,
               event.what);
  }
  fmt::print("{}: seed {}: {}\n", scenario.name, seed,
             run.outcome.failure.empty() ? "passed" : run.outcome.failure);
  fmt::print("trace hash {:016x}, {} switches, {:.3f} s of simulated time{}\n", run.outcome.trace,
             run.outcome.switches, static_cast<double>(run.outcome.end_ns) * 1e-9,
             run.points_at_atomics ? ", with points at atomics" : "");
  return run.outcome.failure.empty() ? 0 : 1;
}

int TellShortestStory(const Scenario& scenario, std::uint64_t seed, const LeftOut& given) {
  ScenarioFolder();  // one for all processes
  const std::optional<LeftOut> left_out = Shrink(scenario, seed, given);
  if (!left_out) {
    fmt::print("{}: seed {} passes\n", scenario.name, seed);
    return 0;
  }
  fmt::print("simulate --seed {} {} {}\n", seed, OptionsOf(*left_out), scenario.name);
  std::fflush(nullptr);
  return TellStory(scenario, seed, *left_out);
}

int RunAll(const Options& options, const std::vector<const Scenario*>& chosen) {
  ScenarioFolder();  // one for all processes
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
  const auto any_failed = [&totals] {
    return std::ranges::any_of(totals, [](const auto& one) { return !one.second.failure.empty(); });
  };
  Progress& told = SharedProgress();
  const std::uint64_t end = options.from + options.seeds;
  for (std::uint64_t first = options.from; first < end; first += kSeedsAtOnce) {
    for (const Scenario* const scenario : chosen) {
      Total& total = totals[scenario];
      if (!total.failure.empty() || (first > options.from && elapsed_s() > options.seconds))
        continue;
      if (options.until_failure && any_failed()) continue;
      const std::uint64_t count =
          (std::min(kSeedsAtOnce, end - first) - 1) / scenario->one_of_seeds + 1;
      const std::string failure = RunApart(*scenario, first, count, told, options.left_out);
      total.seeds += told.done;
      total.trace ^= told.trace;
      if (failure.empty()) continue;
      total.failure = fmt::format("seed {}: {}", told.seed, failure);
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

std::uint64_t NumberOf(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 10); }

// False: the option is unknown.
bool Set(Options& options, const std::string& name, const std::string& value) {
  if (name == "--seeds") {
    options.seeds = NumberOf(value);
  } else if (name == "--from") {
    options.from = NumberOf(value);
  } else if (name == "--seconds") {
    options.seconds = std::strtod(value.c_str(), nullptr);
  } else if (name == "--seed") {
    options.seed = NumberOf(value);
  } else if (name == "--most-nodes") {
    options.left_out.most_nodes = static_cast<NodeId>(NumberOf(value));
  } else if (name == "--percent") {
    options.left_out.percent = static_cast<std::uint32_t>(NumberOf(value));
  } else if (name == "--transport") {
    options.left_out.transport = value;
    return value == "sim" || value == "sim-datagrams" || value == "shm" || value == "tcp";
  } else if (name == "--order") {
    options.left_out.another_order = NumberOf(value);
  } else if (name == "--atomics") {
    if (value != "yes" && value != "no") return false;
    options.left_out.points_at_atomics = value == "yes";
  } else if (name == "--without-faults") {
    for (const std::string_view number : Split(value)) {
      options.left_out.faults.insert(static_cast<std::uint32_t>(NumberOf(std::string(number))));
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

int Simulate(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--shrink") {
      options.shrink = true;
    } else if (word == "--until-failure") {
      options.until_failure = true;
    } else if (!word.starts_with("-")) {
      options.names.push_back(word);
    } else if (i + 1 == argc || !Set(options, word, argv[++i])) {
      fmt::print(stderr, "simulate: {} is unknown, or needs another value\n", word);
      return 2;
    }
  }
  const std::vector<Scenario> scenarios = AllScenarios();
  std::vector<const Scenario*> chosen;
  for (const Scenario& scenario : scenarios) {
    const bool named = std::ranges::find(options.names, scenario.name) != options.names.end();
    if (options.names.empty() || named) chosen.push_back(&scenario);
  }
  if (chosen.size() < options.names.size()) {
    fmt::print(stderr, "simulate: there is no such scenario; there are:\n");
    for (const Scenario& scenario : scenarios) {
      fmt::print(stderr, "  {:20} {}\n", scenario.name, scenario.what);
    }
    return 2;
  }
  if (options.seed == 0) return RunAll(options, chosen);
  if (chosen.size() != 1) {
    fmt::print(stderr, "simulate: --seed needs one scenario\n");
    return 2;
  }
  if (options.shrink) return TellShortestStory(*chosen[0], options.seed, options.left_out);
  return TellStory(*chosen[0], options.seed, options.left_out);
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
