#include "dgemini/serial.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "dgemini/programs.h"

namespace slimgraph::dgemini::serial {

std::vector<std::uint32_t> Bfs(const Csr& graph, VertexId source) {
  std::vector<std::uint32_t> depth(graph.vertices(), kUnreached);
  std::queue<VertexId> queue({source});
  depth[source] = 0;
  for (; !queue.empty(); queue.pop()) {
    const VertexId u = queue.front();
    for (const VertexId v : graph.list(u)) {
      if (depth[v] != kUnreached) continue;
      depth[v] = depth[u] + 1;
      queue.push(v);
    }
  }
  return depth;
}

std::vector<double> Sssp(const Csr& graph, VertexId source) {
  std::vector<double> distance(graph.vertices(), INFINITY);
  using Reached = std::pair<double, VertexId>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  distance[source] = 0;
  queue.emplace(0, source);
  while (!queue.empty()) {
    const auto [so_far, u] = queue.top();
    queue.pop();
    if (so_far > distance[u]) continue;
    for (std::size_t i = 0; i < graph.list(u).size(); ++i) {
      const VertexId v = graph.list(u)[i];
      const double along = so_far + graph.list_weights(u)[i];
      if (along >= distance[v]) continue;
      distance[v] = along;
      queue.emplace(along, v);
    }
  }
  return distance;
}

Ranks PageRank(const Csr& graph, const PageRankOptions& options) {
  const VertexId n = graph.vertices();
  Ranks ranks{std::vector<double>(n, 1.0 / n), 0};
  double change = INFINITY;
  while (options.tolerance ? change > *options.tolerance : ranks.iterations < options.iterations) {
    std::vector<double> next(n, 0.0);
    double dangling = 0;
    for (VertexId u = 0; u < n; ++u) {
      const auto degree = static_cast<double>(graph.degree(u));
      if (degree == 0) dangling += ranks.rank[u];
      for (const VertexId v : graph.list(u)) next[v] += ranks.rank[u] / degree;
    }
    change = 0;
    for (VertexId v = 0; v < n; ++v) {
      next[v] = (1 - options.damping + options.damping * dangling) / n + options.damping * next[v];
      change += std::abs(next[v] - ranks.rank[v]);
    }
    ranks.rank = std::move(next);
    ++ranks.iterations;
  }
  return ranks;
}

std::vector<VertexId> Components(const Csr& graph) {
  std::vector<VertexId> label(graph.vertices());
  std::iota(label.begin(), label.end(), VertexId{0});
  const auto root = [&](VertexId v) {
    while (label[v] != v) v = label[v] = label[label[v]];
    return v;
  };
  for (VertexId u = 0; u < graph.vertices(); ++u) {
    for (const VertexId v : graph.list(u)) {
      const VertexId a = root(u);
      const VertexId b = root(v);
      label[std::max(a, b)] = std::min(a, b);
    }
  }
  for (VertexId v = 0; v < graph.vertices(); ++v) label[v] = root(v);
  return label;
}

std::vector<double> Centrality(const Csr& graph, std::span<const VertexId> sources) {
  const VertexId n = graph.vertices();
  std::vector<double> score(n, 0.0);
  for (const VertexId source : sources) {
    const auto depth = Bfs(graph, source);
    std::vector<VertexId> order;
    for (VertexId v = 0; v < n; ++v) {
      if (depth[v] != kUnreached) order.push_back(v);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](VertexId a, VertexId b) { return depth[a] < depth[b]; });
    std::vector<long double> paths(n, 0.0);  // counts in a large grid exceed the range of double
    std::vector<double> dependency(n, 0.0);
    paths[source] = 1;
    const auto for_edges_down = [&](VertexId u, auto visit) {
      for (const VertexId v : graph.list(u)) {
        if (depth[v] == depth[u] + 1) visit(v);
      }
    };
    for (const VertexId u : order) {
      for_edges_down(u, [&](VertexId v) { paths[v] += paths[u]; });
    }
    for (auto u = order.rbegin(); u != order.rend(); ++u) {
      for_edges_down(*u, [&](VertexId v) {
        dependency[*u] += static_cast<double>(paths[*u] / paths[v]) * (1 + dependency[v]);
      });
      if (*u != source) score[*u] += dependency[*u];
    }
  }
  return score;
}

}  // namespace slimgraph::dgemini::serial
