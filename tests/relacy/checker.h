// Runs the suites of a check under relacy: first all schedules with few preemptions, then random
// ones. Prints a line for each run, and the history of a run that fails.
#pragma once

#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <string_view>

#include "tests/relacy/relacy_atomic.h"

namespace slimgraph {

// How many schedules of a suite are tried.
struct Effort {
  unsigned preemptions;  // all schedules with at most this many
  std::uint64_t random;
};

class Checker {
 public:
  // The program's arguments: --seed N.
  Checker(int arguments, char** argument) {
    for (int i = 1; i < arguments; ++i) {
      const std::string_view word = argument[i];
      if (word == "--seed" && i + 1 < arguments) seed_ = std::stoull(argument[++i]);
    }
    if (seed_ == 0) seed_ = std::random_device()();
  }

  // Stops at the first suite that fails.
  template <typename Suite>
  void Check(const char* name, const Effort& effort) {
    if (failed_) return;
    rl::test_params bounded;
    bounded.search_type = rl::fair_context_bound_scheduler_type;
    bounded.context_bound = effort.preemptions;
    Run<Suite>(name, "up to " + std::to_string(effort.preemptions) + " preemptions", bounded, 0);
    if (failed_) return;
    rl::test_params random;
    random.search_type = rl::random_scheduler_type;
    random.initial_state = std::to_string(seed_);
    random.iteration_count = seed_ + effort.random;
    Run<Suite>(name, "random, seed " + std::to_string(seed_), random, seed_);
  }

  // The exit code.
  int Finish() const { return failed_ ? 1 : 0; }

 private:
  // relacy seeds each random schedule with its number. So the seed of a run is its first number.
  template <typename Suite>
  void Run(const char* name, const std::string& how, rl::test_params& params,
           std::uint64_t before_first) {
    // These do not allocate by the operator new of relacy, which takes part in the schedule.
    rl::ostringstream history;
    rl::ostringstream progress;
    params.output_stream = &history;
    params.progress_stream = &progress;
    params.execution_depth_limit = 10'000;
    const bool good = rl::simulate<Suite>(params);
    std::cout << name << ", " << how << ": ";
    if (good) {
      std::cout << params.stop_iteration - before_first << " schedules" << std::endl;
      return;
    }
    failed_ = true;
    std::cout << "FAILED: " << rl::test_result_str(params.test_result) << " in schedule "
              << params.stop_iteration << '\n'
              << history.str() << std::flush;
  }

  std::uint64_t seed_ = 0;
  bool failed_ = false;
};

}  // namespace slimgraph
