// The seed of tests with random choices.
#pragma once

#include <cstdint>

namespace slimgraph::test {

// Prints the seed. SLIMGRAPH_TEST_SEED sets it.
std::uint64_t TestSeed();

}  // namespace slimgraph::test
