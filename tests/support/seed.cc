#include "tests/support/seed.h"

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace slimgraph::test {

std::uint64_t TestSeed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("SLIMGRAPH_TEST_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "SLIMGRAPH_TEST_SEED=" << chosen << std::endl;
    // For nodes that a launcher starts.
    ::setenv("SLIMGRAPH_TEST_SEED", std::to_string(chosen).c_str(), 1);
    return chosen;
  }();
  return seed;
}

}  // namespace slimgraph::test
