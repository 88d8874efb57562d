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

Result<std::vector<EdgeOffset>> ChunkPartition::ReadOffsets(const GraphSource& file,
                                                            Direction direction, VertexId step,
                                                            std::size_t share, std::size_t shares,
                                                            std::size_t threads) {
  constexpr std::size_t kPiece = kSlimBlockBytes / sizeof(EdgeOffset);
  const std::size_t count = std::size_t{file.vertices()} + 1;
  const std::size_t pieces = (count + kPiece - 1) / kPiece;
  const auto begin_of = [&](std::size_t s) {
    return std::min(s * pieces / shares * kPiece, count);
  };
  const auto kept_before = [&](std::size_t at) { return (at + step - 1) / step; };
  const std::size_t begin = begin_of(share);
  const std::size_t end = share + 1 == shares ? count : begin_of(share + 1);
  const std::size_t first_kept = kept_before(begin);
  std::vector<EdgeOffset> kept(kept_before(end) - first_kept);
  const Status read =
      ParallelFor((end - begin + kPiece - 1) / kPiece, threads, [&](std::size_t i) -> Status {
        const std::size_t first = begin + i * kPiece;
        std::vector<EdgeOffset> piece(std::min(kPiece, end - first));
        SLIM_TRY(file.ReadElements(file.offsets(direction), first, std::span(piece), 1));
        for (std::size_t at = 0; at < piece.size(); at += step)
          kept[(first + at) / step - first_kept] = piece[at];
        return {};
      });
  SLIM_TRY(read);
  // Append the end of all lists, unless it is a multiple of `step` and so already kept.
  if (share + 1 == shares && (count - 1) % step != 0) kept.push_back(file.arcs());
  return kept;
}

Result<ChunkPartition> ChunkPartition::Balance(const GraphSource& file, Direction direction,
                                               NodeId nodes, std::uint32_t sockets, double alpha,
                                               std::size_t threads) {
  const VertexId step = StepFor(file.vertices(), nodes, sockets);
  SLIM_ASSIGN(const auto offsets, ReadOffsets(file, direction, step, 0, 1, threads));
  return ChunkPartition(file.vertices(), offsets, step, nodes, sockets, alpha);
}

}  // namespace slimgraph
