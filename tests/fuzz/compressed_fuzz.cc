#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  for (const char* name : {"fuzz.txt.gz", "fuzz.txt.zst"}) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const internal::ByteSourcePtr source = internal::MemorySource(name, bytes);
    fuzz::Build(internal::ReadEdgeList(*source, fuzz::Options(false, true)), name);
  }
  return 0;
}
