// `slimgraph pool metrics` prints the text format of Prometheus.
#include <map>
#include <string_view>

#include "apps/pool/pool_output.h"
#include "apps/print.h"

namespace slimgraph {
namespace {

// All samples of a figure stand together, after what it means.
class Metrics {
 public:
  explicit Metrics(const std::string& pool) : pool_(pool) {}

  void Define(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  // `labels` besides the pool: `node="0"`. Names of pools and graphs need no quoting.
  void Add(const char* name, std::string_view labels, double value) {
    text_ += fmt::format("{}{{pool=\"{}\"{}{}}} {}\n", name, pool_, labels.empty() ? "" : ",",
                         labels, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string pool_;
  std::string text_;
};

using FigureOfNode = double (*)(const PoolNodeStatus&);

void AddOfNodes(Metrics& metrics, const PoolView& view, const char* name, const char* type,
                const char* help, FigureOfNode figure) {
  metrics.Define(name, type, help);
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    const auto& status = view.nodes[node].status;
    if (status) metrics.Add(name, fmt::format("node=\"{}\"", node), figure(*status));
  }
}

void AddGraphs(Metrics& metrics, const PoolView& view) {
  constexpr const char* kName = "slimgraph_pool_graph_bytes";
  metrics.Define(kName, "gauge", "Memory of a node's part of a graph, or of a view of it.");
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    if (!view.nodes[node].status) continue;
    for (const KeptGraphStatus& graph : view.nodes[node].status->graphs) {
      if (!graph.ready) continue;
      metrics.Add(kName,
                  fmt::format("node=\"{}\",graph=\"{}\",view=\"{}\"", node, graph.name, graph.view),
                  static_cast<double>(graph.bytes));
    }
  }
}

// Each agent tells all nodes, so the first that answers knows all caches.
void AddCaches(Metrics& metrics, const PoolView& view) {
  constexpr const char* kName = "slimgraph_pool_cache_bytes";
  metrics.Define(kName, "gauge", "Memory of a host's copies of a graph, or of a view of it.");
  for (const PoolNodeView& node : view.nodes) {
    if (!node.status) continue;
    for (const HostCacheStatus& cache : node.status->caches) {
      metrics.Add(kName,
                  fmt::format("agent=\"{}\",graph=\"{}\",view=\"{}\"", cache.agent, cache.graph,
                              cache.view),
                  static_cast<double>(cache.bytes));
    }
    return;
  }
}

// Node 0 of the pool has a deputy of each job; another node is asked if it does not answer.
void AddJobs(Metrics& metrics, const PoolView& view) {
  constexpr const char* kName = "slimgraph_pool_jobs";
  metrics.Define(kName, "gauge", "Jobs that use a graph.");
  for (const PoolNodeView& node : view.nodes) {
    if (!node.status) continue;
    std::map<std::string, int> jobs;
    for (const KeptGraphStatus& graph : node.status->graphs) jobs[graph.name];
    for (const AttachedJobStatus& job : node.status->jobs) ++jobs[job.graph];
    for (const auto& [graph, count] : jobs) {
      metrics.Add(kName, fmt::format("graph=\"{}\"", graph), count);
    }
    return;
  }
}

}  // namespace

int PrintMetrics(const PoolView& view) {
  Metrics metrics(view.pool.name);
  constexpr const char* kUp = "slimgraph_pool_node_up";
  metrics.Define(kUp, "gauge", "Whether a node answers.");
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    metrics.Add(kUp, fmt::format("node=\"{}\"", node), view.nodes[node].status ? 1 : 0);
  }
  AddOfNodes(metrics, view, "slimgraph_pool_node_up_seconds", "gauge", "Time since a node started.",
             [](const PoolNodeStatus& status) { return status.up_seconds; });
  AddOfNodes(metrics, view, "slimgraph_pool_node_processor_seconds_total", "counter",
             "Processor time that a node has used.",
             [](const PoolNodeStatus& status) { return status.processor_seconds; });
  AddOfNodes(metrics, view, "slimgraph_pool_memory_used_bytes", "gauge",
             "Memory of all graphs and views on a node.",
             [](const PoolNodeStatus& status) { return static_cast<double>(status.used_bytes); });
  AddOfNodes(metrics, view, "slimgraph_pool_memory_limit_bytes", "gauge",
             "Most memory for graphs and views on a node; 0: no limit.",
             [](const PoolNodeStatus& status) { return static_cast<double>(status.memory_bytes); });
  AddGraphs(metrics, view);
  AddCaches(metrics, view);
  AddJobs(metrics, view);
  return Print(metrics.text());
}

}  // namespace slimgraph
