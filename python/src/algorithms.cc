// The vertex programs of the module. Values are by ascending original id.
#include "slimgraph/session/algorithms.h"

#include <nanobind/stl/optional.h>

#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/nodes.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

ArrayOut<std::uint32_t> Bfs(Loaded& graph, std::uint64_t source) {
  return ArrayOf(graph.Call([&](Graph& loaded) { return BreadthFirstSearch(loaded, source); }));
}

ArrayOut<double> Sssp(Loaded& graph, std::uint64_t source) {
  return ArrayOf(graph.Call([&](Graph& loaded) { return ShortestPaths(loaded, source); }));
}

ArrayOut<double> Ranks(Loaded& graph, double damping, std::uint64_t iterations,
                       std::optional<double> tolerance,
                       std::optional<std::uint64_t> most_iterations,
                       std::optional<std::uint64_t> source) {
  const PageRankParameters parameters{.damping = damping,
                                      .iterations = iterations,
                                      .tolerance = tolerance,
                                      .most_iterations = most_iterations,
                                      .source = source};
  return ArrayOf(graph.Call([&](Graph& loaded) { return PageRank(loaded, parameters); }));
}

ArrayOut<std::uint64_t> Components(Loaded& graph) {
  return ArrayOf(graph.Call([](Graph& loaded) { return ConnectedComponents(loaded); }));
}

ArrayOut<double> Betweenness(Loaded& graph, const IdsIn& sources) {
  return ArrayOf(
      graph.Call([&](Graph& loaded) { return BetweennessCentrality(loaded, SpanOf(sources)); }));
}

ArrayOut<std::uint64_t> Labels(Loaded& graph, std::uint64_t iterations) {
  return ArrayOf(graph.Call([&](Graph& loaded) { return CommunityLabels(loaded, iterations); }));
}

ArrayOut<std::uint32_t> Cores(Loaded& graph) {
  return ArrayOf(graph.Call([](Graph& loaded) { return CoreNumbers(loaded); }));
}

ArrayOut<std::uint8_t> Independent(Loaded& graph, std::uint64_t seed) {
  return ArrayOf(graph.Call([&](Graph& loaded) { return MaximalIndependentSet(loaded, seed); }));
}

ArrayOut<double> Clustering(Loaded& graph) {
  return ArrayOf(graph.Call([](Graph& loaded) { return LocalClustering(loaded); }));
}

ArrayOut<std::uint64_t> Hops(Loaded& graph, std::uint64_t source, std::uint64_t most_hops) {
  return ArrayOf(std::make_shared<const std::vector<std::uint64_t>>(
      graph.Call([&](Graph& loaded) { return HopCounts(loaded, source, most_hops); })));
}

}  // namespace

void BindAlgorithms(nb::module_& module) {
  module.attr("NO_HOPS") = kNoHops;
  module.def("bfs", &Bfs, nb::arg("graph"), nb::arg("source"));
  module.def("sssp", &Sssp, nb::arg("graph"), nb::arg("source"));
  module.def("pagerank", &Ranks, nb::arg("graph"), nb::arg("damping"), nb::arg("iterations"),
             nb::arg("tolerance").none(), nb::arg("most_iterations").none(),
             nb::arg("source").none());
  module.def("connected_components", &Components, nb::arg("graph"));
  module.def("community_labels", &Labels, nb::arg("graph"), nb::arg("iterations"));
  module.def("core_numbers", &Cores, nb::arg("graph"));
  module.def("maximal_independent_set", &Independent, nb::arg("graph"), nb::arg("seed"));
  module.def("local_clustering", &Clustering, nb::arg("graph"));
  module.def("hop_counts", &Hops, nb::arg("graph"), nb::arg("source"), nb::arg("most_hops"));
  module.def("betweenness", &Betweenness, nb::arg("graph"), nb::arg("sources"));
}

}  // namespace slimgraph::python
