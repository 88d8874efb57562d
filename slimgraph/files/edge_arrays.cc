#include "slimgraph/files/edge_arrays.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "slimgraph/base/parallel.h"
#include "slimgraph/files/internal/edge_lines.h"
#include "slimgraph/files/internal/write_slim.h"

namespace slimgraph {
namespace {

constexpr std::size_t kEdgesOfBlock = 1 << 17;

bool IsWhole(double weight) {
  return weight == std::floor(weight) &&
         std::abs(weight) <= static_cast<double>(internal::kMaxExactInDouble);
}

Result<internal::EdgeBlock> MakeBlock(const EdgeArrays& edges, std::size_t first, std::size_t end,
                                      bool whole) {
  const bool weighted = !edges.weights.empty();
  std::uint64_t most = 0;
  for (std::size_t i = first; i < end; ++i) most = std::max({most, edges.src[i], edges.dst[i]});
  const bool wide = most > std::numeric_limits<std::uint32_t>::max();
  SLIM_ASSIGN(auto block, internal::EdgeBlock::Allocate(end - first, wide, weighted));
  for (std::size_t i = first; i < end; ++i) {
    if (wide) {
      block.wide_data()[i - first] = {edges.src[i], edges.dst[i]};
    } else {
      block.narrow_data()[i - first] = {static_cast<std::uint32_t>(edges.src[i]),
                                        static_cast<std::uint32_t>(edges.dst[i])};
    }
    if (!weighted) continue;
    block.weight_data()[i - first] =
        whole ? static_cast<internal::WeightBits>(static_cast<std::int64_t>(edges.weights[i]))
              : std::bit_cast<internal::WeightBits>(edges.weights[i]);
  }
  block.Finish(end - first, weighted && !whole);
  return block;
}

}  // namespace

Status WriteSlimFile(const EdgeArrays& edges, const std::string& path, WeightType of_no_edges) {
  const std::size_t count = edges.src.size();
  if (edges.dst.size() != count) {
    return UsageError("there are {} sources of edges, but {} destinations", count,
                      edges.dst.size());
  }
  const bool weighted = !edges.weights.empty();
  if (weighted && edges.weights.size() != count) {
    return UsageError("there are {} edges, but {} weights", count, edges.weights.size());
  }
  for (std::size_t i = 0; i < edges.weights.size(); ++i) {
    if (!std::isfinite(edges.weights[i])) {
      return UsageError("the weight of edge {} is {}: weights must be finite", i, edges.weights[i]);
    }
  }
  const bool whole = std::all_of(edges.weights.begin(), edges.weights.end(), IsWhole);
  internal::RawGraph graph;
  graph.weighted = weighted;
  graph.vertices.assign(edges.vertices.begin(), edges.vertices.end());
  graph.blocks.resize((count + kEdgesOfBlock - 1) / kEdgesOfBlock);
  SLIM_TRY(ParallelFor(graph.blocks.size(), 0, [&](std::size_t i) -> Status {
    const std::size_t first = i * kEdgesOfBlock;
    SLIM_ASSIGN(graph.blocks[i],
                MakeBlock(edges, first, std::min(count, first + kEdgesOfBlock), whole));
    return {};
  }));
  internal::WriteRules rules;
  rules.name = "the edges";
  rules.out = path;
  rules.directed = edges.directed;
  if (count == 0) rules.weight_type = of_no_edges;
  rules.cancelled = edges.cancelled;
  SLIM_TRY(internal::WriteSlim(std::move(graph), rules));
  return {};
}

}  // namespace slimgraph
