#include <bit>
#include <cmath>
#include <cstring>

#include "slimgraph/files/internal/list_blocks.h"
#include "slimgraph/files/internal/readers.h"

namespace slimgraph::internal {
namespace {

template <typename T>
Status ReadWeightsAs(const SlimFile& file, std::uint64_t first, std::span<WeightBits> weights,
                     std::size_t threads) {
  std::vector<T> values(weights.size());
  SLIM_TRY(file.ReadElements(SectionKind::kOutWeights, first, std::span(values), threads));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(values[i])) {
        return InputError("{}: expected finite weights, found {}", file.path(), values[i]);
      }
      weights[i] = std::bit_cast<WeightBits>(static_cast<double>(values[i]));
    } else {
      weights[i] = static_cast<WeightBits>(std::int64_t{values[i]});
    }
  }
  return {};
}

Status ReadWeights(const SlimFile& file, std::uint64_t first, std::span<WeightBits> weights,
                   std::size_t threads) {
  switch (file.weight_type()) {
    case WeightType::kNone:
      return {};
    case WeightType::kInt32:
      return ReadWeightsAs<std::int32_t>(file, first, weights, threads);
    case WeightType::kInt64:
      return ReadWeightsAs<std::int64_t>(file, first, weights, threads);
    case WeightType::kFloat32:
      return ReadWeightsAs<float>(file, first, weights, threads);
    case WeightType::kFloat64:
      return ReadWeightsAs<double>(file, first, weights, threads);
  }
  return {};
}

}  // namespace

Result<RawGraph> ReadSlim(const SlimFile& file, const ReadOptions& options) {
  RawGraph graph;
  SLIM_ASSIGN(graph.weighted,
              KeepWeights(file.weight_type() != WeightType::kNone, options, file.path()));
  graph.directed = file.directed();
  graph.declared_count = file.vertices();
  SLIM_ASSIGN(graph.declared_ids, file.ReadOriginalIds());
  std::vector<EdgeOffset> offsets(std::size_t{file.vertices()} + 1);
  SLIM_TRY(file.ReadElements(SectionKind::kOutOffsets, 0, std::span(offsets), options.threads));
  SLIM_TRY(CheckOffsets(offsets, file.arcs(), file.path()));
  const bool decimal =
      file.weight_type() == WeightType::kFloat32 || file.weight_type() == WeightType::kFloat64;
  const ListPiece fill = [&](std::uint64_t first, std::span<VertexId> neighbours,
                             std::span<WeightBits> weights) -> Result<bool> {
    SLIM_TRY(file.ReadElements(SectionKind::kOutNeighbours, first, neighbours, options.threads));
    if (!weights.empty()) SLIM_TRY(ReadWeights(file, first, weights, options.threads));
    if (options.progress) options.progress(first + neighbours.size(), file.arcs());
    return decimal;
  };
  SLIM_TRY(
      ForEachListBlock(offsets, graph.weighted, file.path(), fill, [&](EdgeBlock block) -> Status {
        graph.blocks.push_back(std::move(block));
        return {};
      }));
  if (!file.directed()) SLIM_TRY(KeepEachEdgeOnce(graph, file.path(), options.threads));
  return graph;
}

}  // namespace slimgraph::internal
