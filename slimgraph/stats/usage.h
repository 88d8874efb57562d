// What this process has taken of the machine.
#pragma once

#include <cstdint>

namespace slimgraph {

double ProcessorSeconds();        // user and system, all threads
std::uint64_t PeakMemoryBytes();  // resident, with the shared memory it has touched
std::uint64_t HeldMemoryBytes();  // the same, now

}  // namespace slimgraph
