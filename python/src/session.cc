// The classes Session and Graph of the module, without algorithms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/nodes.h"
#include "slimgraph/files/inspect.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

using SharedNodes = std::shared_ptr<Nodes>;
using SharedGraph = std::shared_ptr<Loaded>;

SharedNodes MakeNodes(NodeId nodes, NodeId compute, std::uint32_t threads,
                      const std::string& transport, const std::string& network,
                      const std::string& cache, const std::string& edge_cache,
                      const std::string& memory_side, const std::string& access,
                      std::optional<NodeId> host_of, const std::string& program,
                      const std::string& pool_graph) {
  SessionOptions options;
  options.pool_graph = pool_graph;
  options.nodes = nodes;
  options.compute = compute;
  options.threads = threads;
  options.transport = transport;
  options.network = network;
  const auto choose = [](const char* name, const std::string& text,
                         std::initializer_list<const char*> words) {
    std::string all;
    int index = 0;
    for (const char* word : words) {
      if (text == word) return index;
      all += std::string(all.empty() ? "" : ", ") + word;
      ++index;
    }
    Throw(UsageError("{}='{}' is unknown; there are {}", name, text, all).value());
  };
  options.cache.level =
      static_cast<CacheLevel>(choose("cache", cache, {"naive", "none", "bitmap", "index", "edge"}));
  options.cache.side =
      static_cast<MemorySide>(choose("memory_side", memory_side, {"strict", "serve"}));
  options.cache.edges = Checked(ParseEdgeBudget(edge_cache));
  options.cache.access = static_cast<Access>(choose("access", access, {"in-place", "read"}));
  options.cache.host_of = host_of;
  options.memory_node_program = program;
  return std::make_shared<Nodes>(std::move(options));
}

SharedGraph FromEdges(const SharedNodes& nodes, const IdsIn& src, const IdsIn& dst,
                      const std::optional<WeightsIn>& weights, bool directed,
                      const std::optional<IdsIn>& vertices) {
  const EdgeArrays edges = EdgeArraysOf(src, dst, weights, directed, vertices);
  Graph graph = nodes->Call([&](Session& session) { return Graph::FromEdges(session, edges); });
  return std::make_shared<Loaded>(nodes, std::move(graph));
}

SharedGraph Open(const SharedNodes& nodes, const std::string& path, std::optional<bool> directed,
                 bool weighted, const std::string& format) {
  const ReadOptions options{.directed = directed, .weighted = weighted, .format = format};
  Graph graph = nodes->Call([&](Session& session) { return Graph::Open(session, path, options); });
  return std::make_shared<Loaded>(nodes, std::move(graph));
}

SharedGraph OfPool(const SharedNodes& nodes) {
  Graph graph = nodes->Call([](Session& session) { return Graph::OfPool(session); });
  return std::make_shared<Loaded>(nodes, std::move(graph));
}

nb::dict Info(Loaded& graph) {
  const std::string path = graph.first().path();
  if (path.empty()) {
    Throw({ErrorKind::kUsage, "info: a snapshot of a store and a graph of a pool have no file"});
  }
  const InfoReport report =
      Await([&] { return Inspect({.path = path, .check = false, .progress = {}}); }, [] {});
  nb::dict info;
  info["vertices"] = report.vertices;
  info["edges"] = report.edges;
  info["arcs"] = report.arcs;
  info["directed"] = report.directed;
  info["weight_type"] = nb::cast(std::string(WeightName(report.weight_type)));
  info["file_bytes"] = report.file_bytes;
  info["smallest_id"] = report.first_id;
  info["largest_id"] = report.last_id;
  info["largest_degree"] = report.max_degree;
  info["largest_degree_id"] = report.max_degree_id;
  info["without_edges"] = report.without_edges;
  return info;
}

}  // namespace

void BindSession(nb::module_& module) {
  nb::class_<Nodes>(module, "Session")
      .def(nb::new_(&MakeNodes), nb::arg("nodes"), nb::arg("compute"), nb::arg("threads"),
           nb::arg("transport"), nb::arg("network"), nb::arg("cache"), nb::arg("edge_cache"),
           nb::arg("memory_side"), nb::arg("access"), nb::arg("host_of").none(), nb::arg("program"),
           nb::arg("pool_graph"))
      .def("open", [](Nodes& nodes) { nodes.Call([](Session&) { return Status(); }); })
      .def("close", &Nodes::Close)
      .def_prop_ro("is_open", &Nodes::open)
      .def_prop_ro("node", &Nodes::node)
      .def_prop_ro("nodes", &Nodes::nodes)
      .def_prop_ro("compute", &Nodes::compute)
      .def_prop_ro("threads", [](const Nodes& nodes) { return nodes.options().threads; })
      .def_prop_ro("generation", &Nodes::generation);
  nb::class_<Loaded>(module, "Graph")
      .def_static("from_edges", &FromEdges, nb::arg("session"), nb::arg("src"), nb::arg("dst"),
                  nb::arg("weights").none(), nb::arg("directed"), nb::arg("vertices").none())
      .def_static("open", &Open, nb::arg("session"), nb::arg("path"), nb::arg("directed").none(),
                  nb::arg("weighted"), nb::arg("format"))
      .def_static("of_pool", &OfPool, nb::arg("session"))
      .def_prop_ro("vertices", [](const Loaded& graph) { return graph.first().vertices(); })
      .def_prop_ro("edges", [](const Loaded& graph) { return graph.first().edges(); })
      .def_prop_ro("directed", [](const Loaded& graph) { return graph.first().directed(); })
      .def_prop_ro("weighted", [](const Loaded& graph) { return graph.first().weighted(); })
      .def_prop_ro("traffic_bytes", &Loaded::traffic_bytes)
      .def("ids", [](Loaded& graph) { return ArrayOf(graph.Ids()); })
      .def("info", &Info);
}

}  // namespace slimgraph::python
