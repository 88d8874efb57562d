#include "slimgraph/session/algorithms.h"

#include <utility>
#include <vector>

#include "dgemini/programs.h"
#include "slimgraph/session/internal/graph_handle.h"

namespace slimgraph {
namespace {

using dgemini::VertexArray;

// Rounding errors keep the change of ranks above a smaller tolerance forever.
constexpr double kLeastTolerance = 1e-14;

internal::VertexRequest RequestOf(const dgemini::WorkloadNeeds& needs) {
  internal::VertexRequest request;
  request.weights = needs.weights;
  request.pull_in = needs.pull_in;
  request.pull_out = needs.pull_out;
  request.vertex_bytes = needs.vertex_bytes;
  request.share_bytes = needs.share_bytes;
  return request;
}

Result<VertexId> FindVertex(const Graph& graph, std::uint64_t id, const char* call) {
  if (const auto v = graph.ids().Find(id)) return *v;
  if (graph.vertices() == 0) return InputError("{}: the graph has no vertices", call);
  return InputError("{}: {} is no vertex of the graph, whose ids are from {} to {}", call, id,
                    graph.ids().smallest(), graph.ids().largest());
}

// Loads what a program needs, computes on this node's engine, and brings the values to node 0.
template <typename T, typename Compute>
Result<VertexValues<T>> ComputeValues(Graph& graph, const char* call,
                                      const internal::VertexRequest& request, Compute compute) {
  internal::GraphHandle& handle = graph.handle();
  SLIM_TRY(handle.Load(call, request));
  internal::VertexLists& lists = *handle.open().lists();
  dgemini::Engine engine(lists.cluster(), lists.work(), lists.exchange(), dgemini::Mode::kAuto);
  const auto run = [&]() -> Result<VertexArray<T>> {
    SLIM_ASSIGN(VertexArray<T> values, compute(engine, lists));
    SLIM_TRY(engine.Gather(values));
    return values;
  };
  SLIM_ASSIGN(VertexArray<T> values, handle.Checked(run()));
  if (!engine.first()) return VertexValues<T>();
  return VertexValues<T>(handle.ids, std::move(values));
}

}  // namespace

Result<VertexValues<std::uint32_t>> BreadthFirstSearch(Graph& graph, std::uint64_t source) {
  SLIM_ASSIGN(const VertexId from, FindVertex(graph, source, "BreadthFirstSearch"));
  static_assert(kNoHops == dgemini::kUnreached);
  return ComputeValues<std::uint32_t>(
      graph, "BreadthFirstSearch", RequestOf(dgemini::BfsNeeds(dgemini::Mode::kAuto)),
      [&](dgemini::Engine& engine, internal::VertexLists&) { return dgemini::Bfs(engine, from); });
}

Result<VertexValues<double>> ShortestPaths(Graph& graph, std::uint64_t source) {
  if (!graph.weighted()) {
    return InputError(
        "ShortestPaths: the graph has no weights; use BreadthFirstSearch, or read it "
        "with weights");
  }
  SLIM_ASSIGN(const VertexId from, FindVertex(graph, source, "ShortestPaths"));
  auto request = RequestOf(dgemini::ShortestPaths::Needs(dgemini::Mode::kAuto));
  request.paths = true;
  return ComputeValues<double>(
      graph, "ShortestPaths", request,
      [&](dgemini::Engine& engine, internal::VertexLists& lists) -> Result<VertexArray<double>> {
        SLIM_TRY(lists.paths().Compute(engine, from));
        auto distances = engine.ShareValues<double>();
        engine.ForEach([&](VertexId v) { distances[v] = lists.paths().Distance(v); });
        return distances;
      });
}

Result<VertexValues<double>> PageRank(Graph& graph, const PageRankParameters& parameters) {
  if (!(parameters.damping >= 0 && parameters.damping <= 1)) {
    return UsageError("PageRank: damping {} is out of range: 0 to 1", parameters.damping);
  }
  if (parameters.tolerance && !(*parameters.tolerance >= kLeastTolerance)) {
    return UsageError("PageRank: tolerance {} is out of range: {} and more", *parameters.tolerance,
                      kLeastTolerance);
  }
  dgemini::PageRankOptions options{.damping = parameters.damping,
                                   .iterations = parameters.iterations,
                                   .tolerance = parameters.tolerance};
  if (parameters.most_iterations) options.most_iterations = *parameters.most_iterations;
  double change = 0;
  SLIM_ASSIGN(
      auto values,
      ComputeValues<double>(
          graph, "PageRank", RequestOf(dgemini::PageRankNeeds(dgemini::Mode::kAuto)),
          [&](dgemini::Engine& engine, internal::VertexLists&) -> Result<VertexArray<double>> {
            SLIM_ASSIGN(auto ranks, dgemini::PageRank(engine, options));
            change = ranks.change;
            return std::move(ranks.rank);
          }));
  // All compute nodes know the same change, so the session goes on.
  if (parameters.tolerance && change > *parameters.tolerance) {
    return VerificationError(
        "PageRank: after {} iterations the ranks still change by {}, more than {}",
        *parameters.most_iterations, change, *parameters.tolerance);
  }
  return values;
}

Result<VertexValues<std::uint64_t>> ConnectedComponents(Graph& graph) {
  const OriginalIds& ids = graph.ids();
  return ComputeValues<std::uint64_t>(
      graph, "ConnectedComponents", RequestOf(dgemini::ComponentsNeeds()),
      [&](dgemini::Engine& engine, internal::VertexLists&) -> Result<VertexArray<std::uint64_t>> {
        SLIM_ASSIGN(const auto smallest, dgemini::Components(engine, graph.directed()));
        auto labels = engine.ShareValues<std::uint64_t>();
        engine.ForEach([&](VertexId v) { labels[v] = ids[smallest[v]]; });
        return labels;
      });
}

Result<VertexValues<double>> BetweennessCentrality(Graph& graph,
                                                   std::span<const std::uint64_t> sources) {
  std::vector<VertexId> from;
  for (const std::uint64_t source : sources) {
    SLIM_ASSIGN(const VertexId v, FindVertex(graph, source, "BetweennessCentrality"));
    from.push_back(v);
  }
  return ComputeValues<double>(graph, "BetweennessCentrality",
                               RequestOf(dgemini::CentralityNeeds(dgemini::Mode::kAuto)),
                               [&](dgemini::Engine& engine, internal::VertexLists&) {
                                 return dgemini::Centrality(engine, from);
                               });
}

}  // namespace slimgraph
