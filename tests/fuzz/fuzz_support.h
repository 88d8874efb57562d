// Shared by the fuzzers of graph formats. A reader must return a graph or an error for any bytes.
// A graph is then built into lists, as `slimgraph convert` does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "slimgraph/base/check.h"
#include "slimgraph/files/internal/build_lists.h"
#include "slimgraph/files/internal/id_map.h"
#include "slimgraph/files/internal/readers.h"

namespace slimgraph::fuzz {

inline internal::ReadOptions Options(bool weighted, bool drop) {
  internal::ReadOptions options;
  options.threads = 1;
  options.weighted = weighted;
  options.drop_weights = drop;
  return options;
}

inline void Build(Result<internal::RawGraph> read, const std::string& name) {
  constexpr std::uint64_t kMaxDeclared = 1 << 20;  // CheckMemory refuses larger counts
  if (!read) {
    SLIM_CHECK(!read.error().message.empty());
    return;
  }
  internal::RawGraph graph = *std::move(read);
  if (graph.declared_count.value_or(0) > kMaxDeclared) return;
  internal::BuildRules rules;
  rules.threads = 1;
  rules.directed = graph.directed.value_or(true);
  const auto weight_type = internal::ExactWeightType(graph, name);
  if (!weight_type) return;
  rules.weight_type = *weight_type;
  const auto ids = internal::MakeIdsDense(graph, name, 1);
  SLIM_CHECK(ids.has_value());
  std::uint64_t arcs = 0;
  const auto built =
      internal::BuildLists(graph, ids->count(), Direction::kOut, rules, true,
                           [&](std::span<const VertexId> neighbours, Bytes) -> Status {
                             for (const VertexId v : neighbours) {
                               SLIM_CHECK(v < ids->count());
                             }
                             arcs += neighbours.size();
                             return {};
                           });
  SLIM_CHECK(built.has_value() && built->offsets.back() == arcs);
}

// Reads the bytes as a file of that name, with each choice about weights.
template <typename Read>
void ReadEveryWay(const std::uint8_t* data, std::size_t size, const std::string& name, Read read) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  for (const auto& [weighted, drop] : {std::pair{false, false}, {true, false}, {false, true}}) {
    const internal::ByteSourcePtr source = internal::MemorySource(name, bytes);
    Build(read(*source, Options(weighted, drop)), name);
  }
}

}  // namespace slimgraph::fuzz
