// The first six bytes choose the properties, the others are the lists. A few bits can stand for
// many arcs, so the properties bound the number of arcs; otherwise memory would bound it.
#include <fmt/format.h>

#include <array>

#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  constexpr std::size_t kChosen = 6;
  constexpr std::array kFlags = {"",
                                 "RESIDUALS_GAMMA",
                                 "RESIDUALS_DELTA | OUTDEGREES_DELTA",
                                 "RESIDUALS_NIBBLE | BLOCKS_DELTA",
                                 "BLOCK_COUNT_UNARY",
                                 "REFERENCES_GAMMA | BLOCK_COUNT_DELTA"};
  if (size < kChosen) return 0;
  const std::string properties = fmt::format(
      "nodes={}\narcs={}\nwindowsize={}\nminintervallength={}\nzetak={}\ncompressionflags={}\n",
      data[0], data[1] * 16, data[2] % 32, data[3] % 8, 1 + data[4] % 33,
      kFlags[data[5] % kFlags.size()]);
  fuzz::ReadEveryWay(data + kChosen, size - kChosen, "fuzz.graph",
                     [&](internal::ByteSource& source, const internal::ReadOptions& options) {
                       return internal::ReadWebGraph(source, properties, "properties", options);
                     });
  return 0;
}
