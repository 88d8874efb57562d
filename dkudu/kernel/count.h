// Counts of subgraphs: summed up in 128 bits, told in 64, and an error where they do not fit.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph {

using WideCount = unsigned __int128;

inline Result<std::uint64_t> Narrow(WideCount count, std::string_view what) {
  if (count <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(count);
  return InputError("the number of {} does not fit into 64 bits", what);
}

// n over m, or 2^64 if it is more: then the sum is too much as well, and does not wrap.
inline WideCount Choose(std::uint64_t n, std::uint32_t m) {
  constexpr WideCount kTooMany = WideCount{1} << 64;
  if (n < m) return 0;
  WideCount result = 1;
  for (std::uint32_t i = 0; i < m; ++i) {
    result = result * (n - i) / (i + 1);
    if (result > kTooMany) return kTooMany;  // with m <= n / 2 or not, it is more than n by far
  }
  return result;
}

// Collective.
inline Result<WideCount> SumOverNodes(Collectives& nodes, WideCount mine) {
  return nodes.AllSum(mine);
}

}  // namespace slimgraph
