#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  for (const bool with_weights : {false, true}) {
    fuzz::ReadEveryWay(data, size, "fuzz.sg",
                       [&](internal::ByteSource& source, const internal::ReadOptions& options) {
                         return internal::ReadGapbs(source, with_weights, options);
                       });
  }
  return 0;
}
