// How many steps a program has made, and which way.
#pragma once

#include <cstdint>

namespace slimgraph::dgemini {

struct StepCounts {
  std::uint64_t steps = 0;
  std::uint64_t pulls = 0;
  std::uint64_t reduced = 0;   // pulls that memory nodes have reduced
  std::uint64_t collects = 0;  // calls of Collect
  std::uint64_t reduced_collects = 0;
};

}  // namespace slimgraph::dgemini
