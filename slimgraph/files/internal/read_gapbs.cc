#include "slimgraph/files/internal/binary_reader.h"
#include "slimgraph/files/internal/list_blocks.h"
#include "slimgraph/files/internal/readers.h"

namespace slimgraph::internal {
namespace {

constexpr std::int64_t kMaxNodes32 = std::int64_t{1} << 31;  // GAPBS ids are signed

struct WeightedNeighbour {
  std::uint32_t neighbour;
  std::int32_t weight;
};

std::uint64_t Fingerprint(const EdgeBlock& block, bool reversed) {
  std::uint64_t sum = 0;
  const auto edges = block.narrow();
  const auto weights = block.weights();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto [src, dst] = edges[i];
    const WeightBits weight = weights.empty() ? 0 : weights[i];
    sum += reversed ? ArcFingerprint(dst, src, weight) : ArcFingerprint(src, dst, weight);
  }
  return sum;
}

// Reads the lists of one direction: vertices + 1 offsets, then the neighbours, with weights or
// without.
Status ReadLists(BinaryReader& reader, std::uint64_t vertices, std::uint64_t arcs,
                 bool with_weights, bool keep_weights,
                 const std::function<Status(EdgeBlock)>& take) {
  SLIM_ASSIGN(const std::vector<EdgeOffset> offsets,
              reader.Values<EdgeOffset>(vertices + 1, "offsets"));
  SLIM_TRY(CheckOffsets(offsets, arcs, reader.name()));
  std::vector<WeightedNeighbour> pairs;
  const ListPiece fill = [&](std::uint64_t, std::span<VertexId> neighbours,
                             std::span<WeightBits> weights) -> Result<bool> {
    if (!with_weights) {
      SLIM_TRY(reader.Read(std::as_writable_bytes(neighbours), "neighbours"));
      return false;
    }
    pairs.resize(neighbours.size());
    SLIM_TRY(reader.Read(std::as_writable_bytes(std::span(pairs)), "neighbours"));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      neighbours[i] = pairs[i].neighbour;
      if (!weights.empty()) {
        weights[i] = static_cast<WeightBits>(std::int64_t{pairs[i].weight});
      }
    }
    return false;
  };
  return ForEachListBlock(offsets, keep_weights, reader.name(), fill, take);
}

}  // namespace

// The file: bool directed; int64 arcs, vertices; int64 offsets[vertices + 1]; then
// int32 neighbours[arcs], or pairs of a neighbour and an int32 weight. In a directed graph, offsets
// and neighbours of the incoming edges follow.
Result<RawGraph> ReadGapbs(ByteSource& source, bool with_weights, const ReadOptions& options) {
  BinaryReader reader(source, options.progress);
  SLIM_ASSIGN(const auto directed, reader.Value<std::uint8_t>("header"));
  SLIM_ASSIGN(const auto arcs, reader.Value<std::int64_t>("header"));
  SLIM_ASSIGN(const auto vertices, reader.Value<std::int64_t>("header"));
  if (directed > 1 || arcs < 0 || vertices < 0 || vertices > kMaxNodes32) {
    return InputError(
        "{}: expected a GAPBS graph, found a header with directed {}, {} edges, {} "
        "vertices",
        reader.name(), directed, arcs, vertices);
  }
  RawGraph graph;
  SLIM_ASSIGN(graph.weighted, KeepWeights(with_weights, options, reader.name()));
  graph.directed = directed != 0;
  graph.declared_count = static_cast<std::uint64_t>(vertices);
  std::uint64_t fingerprint = 0;
  const auto keep = [&](EdgeBlock block) -> Status {
    if (directed) fingerprint += Fingerprint(block, false);
    graph.blocks.push_back(std::move(block));
    return {};
  };
  const auto counts = [&](const std::function<Status(EdgeBlock)>& take) {
    return ReadLists(reader, static_cast<std::uint64_t>(vertices), static_cast<std::uint64_t>(arcs),
                     with_weights, graph.weighted, take);
  };
  SLIM_TRY(counts(keep));
  if (directed) {
    SLIM_TRY(counts([&](EdgeBlock block) -> Status {
      fingerprint -= Fingerprint(block, true);
      return {};
    }));
    if (fingerprint != 0) {
      return InputError("{}: its incoming edges are not the reverse of its outgoing ones",
                        reader.name());
    }
  }
  SLIM_TRY(reader.ExpectEnd());
  if (!directed) SLIM_TRY(KeepEachEdgeOnce(graph, reader.name(), options.threads));
  return graph;
}

}  // namespace slimgraph::internal
