#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  fuzz::ReadEveryWay(data, size, "fuzz.txt", internal::ReadEdgeList);
  return 0;
}
