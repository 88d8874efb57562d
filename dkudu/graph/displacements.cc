#include "dkudu/graph/displacements.h"

#include <cstring>
#include <limits>

#include "slimgraph/base/check.h"

namespace slimgraph {

Result<Displacements> Displacements::Make(VertexId vertices,
                                          const std::vector<std::vector<std::byte>>& sizes) {
  Displacements displacements;
  const std::size_t nodes = sizes.size();
  for (NodeId home = 0; home < nodes; ++home) {
    const std::size_t count = sizes[home].size() / sizeof(std::uint32_t);
    SLIM_CHECK(count == (vertices + nodes - 1 - home) / nodes, "node {} has {} lists", home, count);
    Home& at = displacements.homes_.emplace_back();
    at.low.reserve(count + 1);
    std::uint64_t position = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      if (i % kBlock == 0) at.base.push_back(position);
      const std::uint64_t low = position - at.base.back();
      if (low > std::numeric_limits<std::uint32_t>::max()) {
        return InputError("{} neighbouring lists have more than 2^32 entries together: too dense",
                          kBlock);
      }
      at.low.push_back(static_cast<std::uint32_t>(low));
      if (i == count) break;
      std::uint32_t size = 0;
      std::memcpy(&size, sizes[home].data() + i * sizeof size, sizeof size);
      position += size;
    }
  }
  return displacements;
}

std::uint64_t Displacements::total() const {
  std::uint64_t sum = 0;
  for (NodeId home = 0; home < nodes(); ++home) sum += total(home);
  return sum;
}

}  // namespace slimgraph
