#include "slimgraph/session/algorithms.h"

#include <utility>
#include <vector>

#include "slimgraph/session/internal/algorithm.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/mining_call.h"

namespace slimgraph {
namespace {

using internal::Algorithm;

// Rounding errors keep the change of ranks above a smaller tolerance forever.
constexpr double kLeastTolerance = 1e-14;

Result<VertexId> FindVertex(const Graph& graph, std::uint64_t id, const char* call) {
  if (const auto v = graph.ids().Find(id)) return *v;
  if (graph.vertices() == 0) return InputError("{}: the graph has no vertices", call);
  return InputError("{}: {} is no vertex of the graph, whose ids are from {} to {}", call, id,
                    graph.ids().smallest(), graph.ids().largest());
}

// Loads what the program needs, and computes.
template <typename T>
Result<VertexValues<T>> ComputeValues(Graph& graph, const char* call, const Algorithm& algorithm,
                                      double* change = nullptr) {
  internal::GraphHandle& handle = graph.handle();
  handle.traffic_bytes.reset();
  SLIM_TRY(handle.Load(call, algorithm.Needs(graph.directed()), algorithm.ToBytes()));
  internal::AlgorithmFigures figures;
  SLIM_ASSIGN(auto values,
              handle.Checked(internal::RunAlgorithm(handle.open(), algorithm, &figures)));
  if (change != nullptr) *change = figures.change;
  const internal::ClusterRequest& request = handle.nodes->request();
  const bool all_counted =
      request.cache.side == MemorySide::kStrict || handle.nodes->job().nodes() == request.compute;
  if (all_counted) handle.traffic_bytes = figures.traffic_bytes;
  if (handle.nodes->self() != 0) return VertexValues<T>();
  return VertexValues<T>(handle.ids, std::get<dgemini::VertexArray<T>>(std::move(values)));
}

}  // namespace

Result<VertexValues<std::uint32_t>> BreadthFirstSearch(Graph& graph, std::uint64_t source) {
  constexpr const char* kCall = "BreadthFirstSearch";
  static_assert(kNoHops == dgemini::kUnreached);
  Algorithm search{.arguments = {.what = Algorithm::kHops}};
  SLIM_ASSIGN(search.arguments.source, FindVertex(graph, source, kCall));
  return ComputeValues<std::uint32_t>(graph, kCall, search);
}

Result<std::vector<std::uint64_t>> HopCounts(Graph& graph, std::uint64_t source,
                                             std::uint64_t most_hops) {
  constexpr const char* kCall = "HopCounts";
  Algorithm search{.arguments = {.what = Algorithm::kHops, .steps = most_hops}};
  SLIM_ASSIGN(search.arguments.source, FindVertex(graph, source, kCall));
  SLIM_ASSIGN(const auto hops, ComputeValues<std::uint32_t>(graph, kCall, search));
  std::vector<std::uint64_t> counts;
  for (const std::uint32_t far : hops.values()) {
    if (far == kNoHops) continue;
    if (far >= counts.size()) counts.resize(far + std::size_t{1});
    ++counts[far];
  }
  return counts;
}

Result<VertexValues<double>> ShortestPaths(Graph& graph, std::uint64_t source) {
  constexpr const char* kCall = "ShortestPaths";
  if (!graph.weighted()) {
    return InputError(
        "ShortestPaths: the graph has no weights; use BreadthFirstSearch, or read it "
        "with weights");
  }
  Algorithm paths{.arguments = {.what = Algorithm::kPaths}};
  SLIM_ASSIGN(paths.arguments.source, FindVertex(graph, source, kCall));
  return ComputeValues<double>(graph, kCall, paths);
}

Result<VertexValues<double>> PageRank(Graph& graph, const PageRankParameters& parameters) {
  if (!(parameters.damping >= 0 && parameters.damping <= 1)) {
    return UsageError("PageRank: damping {} is out of range: 0 to 1", parameters.damping);
  }
  if (parameters.tolerance && !(*parameters.tolerance >= kLeastTolerance)) {
    return UsageError("PageRank: tolerance {} is out of range: {} and more", *parameters.tolerance,
                      kLeastTolerance);
  }
  Algorithm ranks{.arguments = {.what = Algorithm::kRanks}};
  ranks.arguments.ranks.damping = parameters.damping;
  ranks.arguments.ranks.iterations = parameters.iterations;
  ranks.arguments.ranks.tolerance = parameters.tolerance;
  if (parameters.most_iterations)
    ranks.arguments.ranks.most_iterations = *parameters.most_iterations;
  if (parameters.source) {
    SLIM_ASSIGN(ranks.arguments.ranks.source, FindVertex(graph, *parameters.source, "PageRank"));
  }
  double change = 0;
  SLIM_ASSIGN(auto values, ComputeValues<double>(graph, "PageRank", ranks, &change));
  // All compute nodes know the same change, so the session goes on.
  if (parameters.tolerance && change > *parameters.tolerance) {
    return VerificationError(
        "PageRank: after {} iterations the ranks still change by {}, more than {}",
        ranks.arguments.ranks.most_iterations, change, *parameters.tolerance);
  }
  return values;
}

Result<VertexValues<std::uint64_t>> ConnectedComponents(Graph& graph) {
  return ComputeValues<std::uint64_t>(graph, "ConnectedComponents",
                                      {.arguments = {.what = Algorithm::kComponents}});
}

Result<VertexValues<double>> BetweennessCentrality(Graph& graph,
                                                   std::span<const std::uint64_t> sources) {
  constexpr const char* kCall = "BetweennessCentrality";
  Algorithm centrality{.arguments = {.what = Algorithm::kCentrality}};
  for (const std::uint64_t source : sources) {
    SLIM_ASSIGN(const VertexId v, FindVertex(graph, source, kCall));
    centrality.sources.push_back(v);
  }
  return ComputeValues<double>(graph, kCall, centrality);
}

Result<VertexValues<std::uint64_t>> CommunityLabels(Graph& graph, std::uint64_t iterations) {
  return ComputeValues<std::uint64_t>(
      graph, "CommunityLabels", {.arguments = {.what = Algorithm::kLabels, .steps = iterations}});
}

Result<VertexValues<std::uint32_t>> CoreNumbers(Graph& graph) {
  return ComputeValues<std::uint32_t>(graph, "CoreNumbers",
                                      {.arguments = {.what = Algorithm::kCores}});
}

Result<VertexValues<std::uint8_t>> MaximalIndependentSet(Graph& graph, std::uint64_t seed) {
  return ComputeValues<std::uint8_t>(graph, "MaximalIndependentSet",
                                     {.arguments = {.what = Algorithm::kSet, .seed = seed}});
}

Result<VertexValues<double>> LocalClustering(Graph& graph) {
  return internal::LocalValues<double>(
      graph, "LocalClustering", {},
      [](const dkudu::LocalFigures& figures) { return figures.clustering(); });
}

}  // namespace slimgraph
