// How much of the heap this process takes: for tests of what code says that it takes. Whoever links
// this has operator new and delete counted.
#pragma once

#include <cstdint>

namespace slimgraph::test {

std::uint64_t HeapBytes();
// The most since the last call of this.
std::uint64_t TakeHeapPeak();

}  // namespace slimgraph::test
