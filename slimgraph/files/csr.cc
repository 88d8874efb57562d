#include "slimgraph/files/csr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/files/internal/build_lists.h"
#include "slimgraph/files/internal/list_blocks.h"
#include "slimgraph/files/internal/write_slim.h"

namespace slimgraph {
namespace {

constexpr double kMaxExact = 9007199254740992.0;  // 2^53

template <typename T>
Status AppendAs(Bytes bytes, std::vector<double>& weights) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    const auto exact = static_cast<double>(value);
    if (std::is_integral_v<T> && std::abs(exact) > kMaxExact) {
      return InputError("the weight {} is beyond what a double holds exactly", value);
    }
    weights.push_back(exact);
  }
  return {};
}

Status AppendWeights(Bytes bytes, WeightType type, std::vector<double>& weights) {
  switch (type) {
    case WeightType::kNone:
      return {};
    case WeightType::kInt32:
      return AppendAs<std::int32_t>(bytes, weights);
    case WeightType::kInt64:
      return AppendAs<std::int64_t>(bytes, weights);
    case WeightType::kFloat32:
      return AppendAs<float>(bytes, weights);
    case WeightType::kFloat64:
      return AppendAs<double>(bytes, weights);
  }
  return {};
}

Result<internal::RawGraph> ToRaw(const EdgeList& list) {
  SLIM_CHECK(list.weights.empty() || list.weights.size() == list.edges.size());
  const bool weighted = !list.weights.empty();
  const bool integers = std::all_of(list.weights.begin(), list.weights.end(), [](double w) {
    return w == std::floor(w) && std::abs(w) <= kMaxExact;
  });
  SLIM_ASSIGN(internal::EdgeBlock block,
              internal::EdgeBlock::Allocate(list.edges.size(), false, weighted));
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    const auto [src, dst] = list.edges[i];
    if (src >= list.vertices || dst >= list.vertices) {
      return UsageError("the edge {} {} is out of range: the graph has {} vertices", src, dst,
                        list.vertices);
    }
    block.narrow_data()[i] = {src, dst};
    if (!weighted) continue;
    block.weight_data()[i] =
        integers ? static_cast<internal::WeightBits>(static_cast<std::int64_t>(list.weights[i]))
                 : std::bit_cast<internal::WeightBits>(list.weights[i]);
  }
  block.Finish(list.edges.size(), !integers);
  internal::RawGraph graph;
  graph.weighted = weighted;
  graph.declared_count = list.vertices;
  graph.blocks.push_back(std::move(block));
  return graph;
}

}  // namespace

Result<Csr> BuildCsr(const EdgeList& list, Direction direction) {
  SLIM_ASSIGN(internal::RawGraph graph, ToRaw(list));
  internal::BuildRules rules;
  rules.directed = list.directed;
  rules.threads = 1;
  SLIM_ASSIGN(rules.weight_type, internal::ExactWeightType(graph, "the edge list"));
  Csr csr;
  const Direction built_direction = list.directed ? direction : Direction::kOut;
  SLIM_ASSIGN(
      internal::BuiltLists built,
      internal::BuildLists(graph, list.vertices, built_direction, rules, true,
                           [&](std::span<const VertexId> neighbours, Bytes weights) -> Status {
                             csr.neighbours.insert(csr.neighbours.end(), neighbours.begin(),
                                                   neighbours.end());
                             return AppendWeights(weights, rules.weight_type, csr.weights);
                           }));
  csr.offsets = std::move(built.offsets);
  return csr;
}

Status WriteSlimFile(const EdgeList& list, const std::string& path) {
  SLIM_ASSIGN(internal::RawGraph graph, ToRaw(list));
  internal::WriteRules rules;
  rules.name = "the edge list";
  rules.out = path;
  rules.directed = list.directed;
  SLIM_TRY(internal::WriteSlim(std::move(graph), rules));
  return {};
}

Result<Csr> ReadCsr(const GraphSource& file, Direction direction) {
  SLIM_CHECK(file.has(direction), "{} has no such lists", file.path());
  Csr csr;
  csr.offsets.resize(std::size_t{file.vertices()} + 1);
  SLIM_TRY(file.ReadElements(file.offsets(direction), 0, std::span(csr.offsets)));
  SLIM_TRY(internal::CheckOffsets(csr.offsets, file.arcs(), file.path()));
  csr.neighbours.resize(file.arcs());
  SLIM_TRY(file.ReadElements(file.neighbours(direction), 0, std::span(csr.neighbours)));
  if (file.weight_type() != WeightType::kNone) {
    std::vector<std::byte> bytes(file.section_bytes(file.weights(direction)));
    SLIM_TRY(file.Read(file.weights(direction), 0, bytes));
    SLIM_TRY(AppendWeights(bytes, file.weight_type(), csr.weights));
  }
  return csr;
}

}  // namespace slimgraph
