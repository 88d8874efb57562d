#include "slimgraph/graph/partition.h"

#include "slimgraph/base/check.h"

namespace slimgraph {

ChunkPartition::ChunkPartition(VertexId vertices, std::span<const EdgeOffset> offsets,
                               VertexId step, NodeId nodes, std::uint32_t sockets, double alpha)
    : nodes_(nodes), sockets_(sockets) {
  const std::size_t steps = (std::size_t{vertices} + step - 1) / step;
  SLIM_CHECK(nodes > 0 && sockets > 0 && step > 0 && offsets.size() == steps + 1);
  const auto vertex_at = [&](std::size_t i) {
    return static_cast<VertexId>(std::min<std::uint64_t>(std::uint64_t{i} * step, vertices));
  };
  const auto cost_before = [&](std::size_t i) {
    return static_cast<double>(offsets[i]) + alpha * static_cast<double>(vertex_at(i));
  };
  const std::size_t slots = std::size_t{nodes} * sockets;
  const double total = cost_before(steps);
  cuts_.assign(slots + 1, vertices);
  cuts_[0] = 0;
  std::size_t low = 0;
  for (std::size_t slot = 1; slot < slots; ++slot) {
    const double target = total * static_cast<double>(slot) / static_cast<double>(slots);
    std::size_t high = steps;
    while (low < high) {  // the first step at which the cost before it reaches the target
      const std::size_t middle = low + (high - low) / 2;
      if (cost_before(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    cuts_[slot] = vertex_at(low);
  }
}

VertexId ChunkPartition::StepFor(VertexId vertices, NodeId nodes, std::uint32_t sockets) {
  constexpr VertexId kWord = 64;
  return vertices / kWord / kWord >= nodes * sockets ? kWord : 1;
}

Result<ChunkPartition> ChunkPartition::Balance(const GraphSource& file, Direction direction,
                                               NodeId nodes, std::uint32_t sockets, double alpha) {
  constexpr std::size_t kPiece = 1 << 20;
  const VertexId vertices = file.vertices();
  const VertexId step = StepFor(vertices, nodes, sockets);
  std::vector<EdgeOffset> kept;
  kept.reserve(vertices / step + 2);
  std::vector<EdgeOffset> piece(std::min<std::size_t>(kPiece, std::size_t{vertices} + 1));
  for (std::size_t first = 0; first <= vertices; first += kPiece) {
    const auto part =
        std::span(piece).first(std::min<std::size_t>(kPiece, std::size_t{vertices} + 1 - first));
    SLIM_TRY(file.ReadElements(file.offsets(direction), first, part));
    for (std::size_t i = 0; i < part.size(); i += step) kept.push_back(part[i]);
  }
  if (vertices % step != 0) kept.push_back(file.arcs());
  return ChunkPartition(vertices, kept, step, nodes, sockets, alpha);
}

}  // namespace slimgraph
