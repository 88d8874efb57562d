#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  fuzz::ReadEveryWay(data, size, "fuzz.gemini", internal::ReadGemini);
  fuzz::ReadEveryWay(data, size, "fuzz.gemini",
                     [](internal::ByteSource& source, internal::ReadOptions options) {
                       options.vertex_count = 1000;
                       return internal::ReadGemini(source, options);
                     });
  return 0;
}
