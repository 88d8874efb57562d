#include "slimgraph/graph/partition.h"

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"

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
                                               NodeId nodes, std::uint32_t sockets, double alpha,
                                               std::size_t threads) {
  constexpr std::size_t kPiece = kSlimBlockBytes / sizeof(EdgeOffset);
  const VertexId vertices = file.vertices();
  const VertexId step = StepFor(vertices, nodes, sockets);
  const std::size_t count = std::size_t{vertices} + 1;
  std::vector<EdgeOffset> kept((std::size_t{vertices} + step - 1) / step + 1, file.arcs());
  const Status read =
      ParallelFor((count + kPiece - 1) / kPiece, threads, [&](std::size_t i) -> Status {
        const std::size_t first = i * kPiece;
        std::vector<EdgeOffset> piece(std::min(kPiece, count - first));
        SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece), 1));
        for (std::size_t at = 0; at < piece.size(); at += step)
          kept[(first + at) / step] = piece[at];
        return {};
      });
  SLIM_TRY(read);
  return ChunkPartition(vertices, kept, step, nodes, sockets, alpha);
}

}  // namespace slimgraph
