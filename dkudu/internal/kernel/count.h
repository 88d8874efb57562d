// Counts of subgraphs: summed in 128 bits and returned in 64, with an error if they do not fit.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph::dkudu {

using WideCount = unsigned __int128;

inline Result<std::uint64_t> Narrow(WideCount count, std::string_view what) {
  if (count <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(count);
  return InputError("the number of {} does not fit into 64 bits", what);
}

// n choose m, for m <= 8, but at most 2^64: a sum with such a term is too large as well, and does
// not wrap around.
// does not wrap around.
inline WideCount Choose(std::uint64_t n, std::uint32_t m) {
  constexpr WideCount kTooMany = WideCount{1} << 64;
  if (n < m) return 0;
  WideCount result = 1;
  for (std::uint32_t i = 0; i < m; ++i) {
    result = result * (n - i) / (i + 1);
    if (result > kTooMany) return kTooMany;  // it only grows from here, as n is far above 8
  }
  return result;
}

// Collective.
inline Result<WideCount> SumOverNodes(Collectives& nodes, WideCount mine) {
  return nodes.AllSum(mine);
}

}  // namespace slimgraph::dkudu
