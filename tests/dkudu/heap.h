// Measures the heap of this process, for tests of announced memory. A binary that links this file
// replaces operator new and operator delete.
#pragma once

#include <cstdint>

namespace slimgraph::test {

std::uint64_t HeapBytes();
// The peak since the previous call.
std::uint64_t TakeHeapPeak();

}  // namespace slimgraph::test
