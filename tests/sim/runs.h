// Runs of a scenario with a seed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/scenario.h"

namespace slimgraph::test {

struct Run {
  sim::RunOutcome outcome;
  std::vector<Event> story;
};
Run RunSeed(const Scenario& scenario, std::uint64_t seed, const LeftOut& left_out = {});

// What a child process tells its parent, also if it crashes.
struct Progress {
  std::uint64_t seed;
  std::uint64_t done;
  std::uint64_t trace;
  char failure[1024];
};

// Runs seeds in a process of their own, so that a crash is a failure of its seed. Returns what has
// failed; nothing if all have passed.
std::string RunApart(const Scenario& scenario, std::uint64_t first, std::uint64_t count,
                     Progress& told, const LeftOut& left_out = {});

// Memory that a child process shares.
Progress& SharedProgress();

// Leaves nodes, faults and work out of a run that fails, while it still fails in the same way.
// Prints each success. Returns nothing if the run does not fail.
std::optional<LeftOut> Shrink(const Scenario& scenario, std::uint64_t seed,
                              const LeftOut& left_out);

// The options of `simulate` that leave this out.
std::string OptionsOf(const LeftOut& left_out);

}  // namespace slimgraph::test
