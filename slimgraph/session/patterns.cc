#include "slimgraph/session/patterns.h"

#include <array>

#include "slimgraph/session/internal/mining_call.h"

namespace slimgraph {
namespace {

using internal::MiningRequest;

// What MiningGraph::Load would refuse on every node, after the nodes have begun.
Status CheckUndirected(const Graph& graph, const char* call) {
  if (!graph.directed()) return {};
  return UsageError("{}: the graph is directed; patterns need an undirected one", call);
}

}  // namespace

Result<std::uint64_t> Count(Graph& graph, const Pattern& pattern, const MatchOptions& options) {
  SLIM_TRY(CheckUndirected(graph, "Count"));
  auto request = internal::MakeRequest(graph, MiningRequest::kCount, options);
  request.SetPattern(pattern);
  return internal::MineInSession(graph, "Count", request, {});
}

Result<std::uint64_t> ForEachMatch(Graph& graph, const Pattern& pattern, const MatchVisit& visit,
                                   const MatchOptions& options) {
  SLIM_TRY(CheckUndirected(graph, "ForEachMatch"));
  SLIM_TRY(graph.handle().nodes->CheckRunsFunctionsOfProgram("ForEachMatch"));
  auto request = internal::MakeRequest(graph, MiningRequest::kVisit, options);
  request.SetPattern(pattern);
  const OriginalIds& ids = graph.ids();
  const auto embedding = [&](std::uint32_t thread,
                             std::span<const VertexId> dense) -> Result<bool> {
    std::array<std::uint64_t, dkudu::kMaxPatternVertices> original;
    for (std::size_t i = 0; i < dense.size(); ++i) original[i] = ids[dense[i]];
    return visit(thread, std::span(original).first(dense.size()));
  };
  return internal::MineInSession(graph, "ForEachMatch", request, {.embedding = embedding});
}

Result<VertexValues<LocalCount>> LocalCounts(Graph& graph, const MatchOptions& options) {
  SLIM_TRY(CheckUndirected(graph, "LocalCounts"));
  return internal::LocalValues<LocalCount>(
      graph, "LocalCounts", options, [](const dkudu::LocalFigures& figures) {
        return LocalCount{figures.degree, figures.triangles(), figures.clustering()};
      });
}

Result<std::vector<EdgeTrussness>> Trussness(Graph& graph, const MatchOptions& options) {
  SLIM_TRY(CheckUndirected(graph, "Trussness"));
  const auto request = internal::MakeRequest(graph, MiningRequest::kTruss, options);
  const OriginalIds& ids = graph.ids();
  std::vector<EdgeTrussness> edges;
  const auto edge = [&](VertexId a, VertexId b, std::uint32_t trussness) -> Status {
    edges.push_back({ids[a], ids[b], trussness});
    return {};
  };
  const auto begin = [&edges](std::uint64_t count) { edges.reserve(count); };
  SLIM_TRY(internal::MineInSession(graph, "Trussness", request, {.edges = begin, .edge = edge}));
  return edges;
}

}  // namespace slimgraph
