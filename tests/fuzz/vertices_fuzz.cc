#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const internal::ByteSourcePtr source = internal::MemorySource("fuzz.v", bytes);
  auto vertices = internal::ReadVertices(*source);
  if (!vertices) return 0;
  internal::RawGraph graph;
  graph.vertices = *std::move(vertices);
  fuzz::Build(std::move(graph), "fuzz.v");
  return 0;
}
