// The processor time and the memory that this process has used.
#pragma once

#include <cstdint>

namespace slimgraph {

double ProcessorSeconds();            // user and system time of all threads
std::uint64_t PeakMemoryBytes();      // resident, with the shared memory that it has touched
std::uint64_t ResidentMemoryBytes();  // the current value of the same

}  // namespace slimgraph
