#include "slimgraph/files/internal/list_blocks.h"

#include <algorithm>

namespace slimgraph::internal {

Status ForEachListBlock(std::span<const EdgeOffset> offsets, bool weighted, const std::string& name,
                        const ListPiece& fill, const std::function<Status(EdgeBlock)>& take) {
  const std::size_t vertices = offsets.size() - 1;
  const std::uint64_t arcs = offsets.back();
  std::vector<VertexId> neighbours(std::min<std::uint64_t>(kListBlockArcs, arcs));
  std::size_t owner = 0;
  for (std::uint64_t first = 0; first < arcs; first += kListBlockArcs) {
    const std::size_t count = std::min<std::uint64_t>(kListBlockArcs, arcs - first);
    SLIM_ASSIGN(EdgeBlock block, EdgeBlock::Allocate(count, false, weighted));
    const auto piece = std::span(neighbours).first(count);
    SLIM_ASSIGN(const bool decimal,
                fill(first, piece, {block.weight_data(), weighted ? count : 0}));
    for (std::size_t i = 0; i < count; ++i) {
      while (offsets[owner + 1] <= first + i) ++owner;
      if (piece[i] >= vertices) {
        return InputError("{}: expected neighbours below {}, found {} in the list of {}", name,
                          vertices, piece[i], owner);
      }
      block.narrow_data()[i] = {static_cast<VertexId>(owner), piece[i]};
    }
    block.Finish(count, decimal);
    SLIM_TRY(take(std::move(block)));
  }
  return {};
}

Status CheckOffsets(std::span<const EdgeOffset> offsets, std::uint64_t arcs,
                    const std::string& name) {
  if (offsets.front() != 0 || offsets.back() != arcs) {
    return InputError("{}: expected lists from 0 to {}, found offsets from {} to {}", name, arcs,
                      offsets.front(), offsets.back());
  }
  const auto falls = std::adjacent_find(offsets.begin(), offsets.end(), std::greater<>());
  if (falls != offsets.end()) {
    return InputError("{}: expected offsets that never fall, found {} after {} at vertex {}", name,
                      falls[1], falls[0], falls - offsets.begin());
  }
  return {};
}

}  // namespace slimgraph::internal
