#include "slimgraph/files/unit_weights.h"

#include <array>
#include <bit>

namespace slimgraph {
namespace {

using UnitWeight = std::int32_t;

bool HoldsWeights(SectionKind kind) {
  return kind == SectionKind::kOutWeights || kind == SectionKind::kInWeights;
}

}  // namespace

UnitWeights::UnitWeights(const GraphSource& graph) : GraphSource(graph), graph_(graph) {
  header_.weight_type = WeightType::kInt32;
}

bool UnitWeights::has(SectionKind kind) const {
  if (kind == SectionKind::kInWeights) return graph_.has(SectionKind::kInNeighbours);
  return kind == SectionKind::kOutWeights || graph_.has(kind);
}

std::uint64_t UnitWeights::section_bytes(SectionKind kind) const {
  if (!HoldsWeights(kind)) return graph_.section_bytes(kind);
  return has(kind) ? arcs() * sizeof(UnitWeight) : 0;
}

Status UnitWeights::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                         std::size_t threads) const {
  if (!HoldsWeights(kind)) return graph_.Read(kind, first_byte, into, threads);
  constexpr auto kOne = std::bit_cast<std::array<std::byte, sizeof(UnitWeight)>>(UnitWeight{1});
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = kOne[(first_byte + i) % kOne.size()];
  return {};
}

}  // namespace slimgraph
