#include "slimgraph/session/patterns.h"

#include <array>

#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/mining.h"

namespace slimgraph {
namespace {

internal::MiningRequest RequestOf(internal::GraphHandle& handle, internal::MiningRequest::What what,
                                  const MatchOptions& options) {
  internal::MiningRequest request;
  request.cluster = handle.nodes->request();
  request.what = what;
  request.induced = options.induced ? dkudu::Induced::kVertex : dkudu::Induced::kEdge;
  request.options.chunk_bytes = options.chunk_bytes;
  request.options.cache_bytes = options.cache_bytes;
  return request;
}

// What MiningGraph::Load would refuse on every node, after the nodes have begun.
Status CheckMinable(const Graph& graph, const char* call) {
  if (graph.directed())
    return UsageError("{}: the graph is directed; patterns need an undirected one", call);
  if (graph.vertices() == 0) return InputError("{}: the graph has no vertices", call);
  return {};
}

Result<std::uint64_t> Mine(Graph& graph, const std::string& call,
                           const internal::MiningRequest& request,
                           const internal::MiningSinks& sinks) {
  internal::GraphHandle& handle = graph.handle();
  SLIM_ASSIGN(const internal::Call agreed, handle.Do(call, internal::Task::kMine, request));
  auto mined = internal::Mine(handle.nodes->job(), handle.open().file(), *handle.ids,
                              agreed.RequestAs<internal::MiningRequest>(), sinks);
  if (!mined && mined.error().kind == ErrorKind::kUsage) return mined;
  return handle.Checked(std::move(mined));
}

}  // namespace

Result<std::uint64_t> Count(Graph& graph, const Pattern& pattern, const MatchOptions& options) {
  SLIM_TRY(CheckMinable(graph, "Count"));
  auto request = RequestOf(graph.handle(), internal::MiningRequest::kCount, options);
  request.SetPattern(pattern);
  return Mine(graph, "Count", request, {});
}

Result<std::uint64_t> ForEachMatch(Graph& graph, const Pattern& pattern, const MatchVisit& visit,
                                   const MatchOptions& options) {
  SLIM_TRY(CheckMinable(graph, "ForEachMatch"));
  SLIM_TRY(graph.handle().nodes->CheckRunsFunctionsOfProgram("ForEachMatch"));
  auto request = RequestOf(graph.handle(), internal::MiningRequest::kVisit, options);
  request.SetPattern(pattern);
  const OriginalIds& ids = graph.ids();
  const auto embedding = [&](std::uint32_t thread,
                             std::span<const VertexId> dense) -> Result<bool> {
    std::array<std::uint64_t, dkudu::kMaxPatternVertices> original;
    for (std::size_t i = 0; i < dense.size(); ++i) original[i] = ids[dense[i]];
    return visit(thread, std::span(original).first(dense.size()));
  };
  return Mine(graph, "ForEachMatch", request, {.embedding = embedding, .local = {}});
}

Result<VertexValues<LocalCount>> LocalCounts(Graph& graph, const MatchOptions& options) {
  SLIM_TRY(CheckMinable(graph, "LocalCounts"));
  const auto request = RequestOf(graph.handle(), internal::MiningRequest::kLocal, options);
  const bool first = graph.handle().nodes->self() == 0;
  dgemini::VertexArray<LocalCount> counts(first ? graph.vertices() : 0);
  const auto local = [&](VertexId v, const dkudu::LocalFigures& figures) -> Status {
    counts[v] = {figures.degree, figures.triangles(), figures.clustering()};
    return {};
  };
  SLIM_TRY(Mine(graph, "LocalCounts", request, {.embedding = {}, .local = local}));
  if (!first) return VertexValues<LocalCount>();
  return VertexValues<LocalCount>(graph.handle().ids, std::move(counts));
}

}  // namespace slimgraph
