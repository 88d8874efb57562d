#include "slimgraph/files/internal/raw_graph.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "slimgraph/base/mix.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/files/internal/edge_lines.h"

namespace slimgraph::internal {
namespace {

constexpr std::int64_t kMaxExactInFloat = std::int64_t{1} << 24;

bool IsExactFloat(double value) {
  if (!(value >= -std::numeric_limits<float>::max() &&
        value <= std::numeric_limits<float>::max())) {
    return false;
  }
  return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(value))) ==
         std::bit_cast<std::uint64_t>(value);
}

}  // namespace

Result<EdgeBlock> EdgeBlock::Allocate(std::size_t capacity, bool wide, bool weighted) {
  EdgeBlock block;
  block.wide_ = wide;
  SLIM_ASSIGN(block.edges_,
              PageBuffer::Allocate(capacity * (wide ? sizeof(WideEdge) : sizeof(NarrowEdge))));
  if (weighted) {
    SLIM_ASSIGN(block.weights_, PageBuffer::Allocate(capacity * sizeof(WeightBits)));
  }
  return block;
}

void EdgeBlock::Finish(std::size_t size, bool decimal) {
  size_ = size;
  decimal_ = decimal;
  edges_.Shrink(size * (wide_ ? sizeof(WideEdge) : sizeof(NarrowEdge)));
  if (weights_.bytes() > 0) weights_.Shrink(size * sizeof(WeightBits));
}

void EdgeBlock::BecomeNarrow() {
  wide_ = false;
  edges_.Shrink(size_ * sizeof(NarrowEdge));
}

std::uint64_t RawGraph::edges() const {
  std::uint64_t count = 0;
  for (const EdgeBlock& block : blocks) count += block.size();
  return count;
}

std::uint64_t ArcFingerprint(std::uint64_t src, std::uint64_t dst, WeightBits weight) {
  return Mix64(Mix64(Mix64(src + kMixStep) + dst) + weight);
}

Status KeepEachEdgeOnce(RawGraph& graph, const std::string& name, std::size_t threads) {
  std::atomic<std::uint64_t> upper = 0;
  std::atomic<std::uint64_t> lower = 0;
  SLIM_TRY(ParallelFor(graph.blocks.size(), threads, [&](std::size_t i) -> Status {
    EdgeBlock& block = graph.blocks[i];
    const std::span<NarrowEdge> edges = block.narrow();
    const std::span<WeightBits> weights = block.weights();
    std::uint64_t block_upper = 0;
    std::uint64_t block_lower = 0;
    std::size_t kept = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const NarrowEdge edge = edges[e];
      const WeightBits weight = weights.empty() ? 0 : weights[e];
      if (edge.src > edge.dst) {
        block_lower += ArcFingerprint(edge.dst, edge.src, weight);
        continue;
      }
      if (edge.src < edge.dst) {
        block_upper += ArcFingerprint(edge.src, edge.dst, weight);
      }
      edges[kept] = edge;
      if (!weights.empty()) weights[kept] = weight;
      ++kept;
    }
    upper += block_upper;
    lower += block_lower;
    block.Finish(kept, block.decimal());
    return {};
  }));
  if (upper != lower) {
    return InputError(
        "{}: not symmetric: an undirected graph lists each edge at both ends, with the same "
        "weight; "
        "here some edge is listed at one end only or with two weights",
        name);
  }
  return {};
}

Result<WeightType> ExactWeightType(const RawGraph& graph, const std::string& name) {
  if (!graph.weighted) return WeightType::kNone;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool decimal = false;
  bool floats = true;
  for (const EdgeBlock& block : graph.blocks) {
    decimal |= block.decimal() && block.size() > 0;
    for (const WeightBits bits : block.weights()) {
      if (block.decimal()) {
        floats = floats && IsExactFloat(std::bit_cast<double>(bits));
      } else {
        low = std::min(low, static_cast<std::int64_t>(bits));
        high = std::max(high, static_cast<std::int64_t>(bits));
      }
    }
  }
  if (!decimal) {
    const bool small = low >= std::numeric_limits<std::int32_t>::min() &&
                       high <= std::numeric_limits<std::int32_t>::max();
    return small ? WeightType::kInt32 : WeightType::kInt64;
  }
  if (low < -kMaxExactInDouble || high > kMaxExactInDouble) {
    return InputError(
        "{}: no type holds all its weights exactly: some are decimals, and the integer {} is "
        "beyond "
        "what a 64-bit float holds",
        name, high > kMaxExactInDouble ? high : low);
  }
  floats = floats && low >= -kMaxExactInFloat && high <= kMaxExactInFloat;
  return floats ? WeightType::kFloat32 : WeightType::kFloat64;
}

}  // namespace slimgraph::internal
