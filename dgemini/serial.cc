#include "dgemini/serial.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
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
  // How what edges do not give is divided; the first ranks as well.
  std::vector<double> share(n, options.source ? 0.0 : 1.0 / n);
  if (options.source) share[*options.source] = 1;
  Ranks ranks{share, 0};
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
      next[v] =
          (1 - options.damping + options.damping * dangling) * share[v] + options.damping * next[v];
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

namespace {

// All neighbours of a vertex: in a directed graph those of both directions, in any order.
class AllNeighbours {
 public:
  AllNeighbours(const Csr& out, bool directed) : out_(out) {
    if (!directed) return;
    in_.offsets.assign(std::size_t{out.vertices()} + 1, 0);
    for (const VertexId v : out.neighbours) ++in_.offsets[std::size_t{v} + 1];
    std::partial_sum(in_.offsets.begin(), in_.offsets.end(), in_.offsets.begin());
    in_.neighbours.resize(out.neighbours.size());
    auto next = in_.offsets;
    for (VertexId u = 0; u < out.vertices(); ++u) {
      for (const VertexId v : out.list(u)) in_.neighbours[next[v]++] = u;
    }
  }
  std::vector<VertexId> Of(VertexId v) const {
    std::vector<VertexId> all(out_.list(v).begin(), out_.list(v).end());
    if (in_.vertices() > 0) all.insert(all.end(), in_.list(v).begin(), in_.list(v).end());
    return all;
  }
  std::vector<VertexId> DifferentOf(VertexId v) const {
    std::vector<VertexId> all = Of(v);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase(all, v);
    return all;
  }

 private:
  const Csr& out_;
  Csr in_;
};

}  // namespace

std::vector<std::uint64_t> PropagateLabels(const Csr& out_lists, bool directed,
                                           const OriginalIds& ids, std::uint64_t iterations) {
  const AllNeighbours neighbours(out_lists, directed);
  std::vector<std::uint64_t> label(out_lists.vertices());
  for (VertexId v = 0; v < out_lists.vertices(); ++v) label[v] = ids[v];
  for (std::uint64_t i = 0; i < iterations; ++i) {
    std::vector<std::uint64_t> next = label;
    std::vector<std::uint64_t> met;
    for (VertexId v = 0; v < out_lists.vertices(); ++v) {
      met.clear();
      for (const VertexId u : neighbours.Of(v)) met.push_back(label[u]);
      std::sort(met.begin(), met.end());
      std::size_t most = 0;
      for (auto begin = met.begin(); begin != met.end();) {
        const auto end = std::upper_bound(begin, met.end(), *begin);
        if (const auto count = static_cast<std::size_t>(end - begin); count > most) {
          most = count;
          next[v] = *begin;
        }
        begin = end;
      }
    }
    if (next == label) break;
    label = std::move(next);
  }
  return label;
}

// Batagelj and Zaversnik 2003: vertices are kept sorted by their number of neighbours left.
std::vector<std::uint32_t> CoreNumbers(const Csr& out_lists, bool directed) {
  const AllNeighbours neighbours(out_lists, directed);
  const VertexId n = out_lists.vertices();
  std::vector<std::uint32_t> left(n);
  for (VertexId v = 0; v < n; ++v) {
    left[v] = static_cast<std::uint32_t>(neighbours.DifferentOf(v).size());
  }
  const std::uint32_t most = n == 0 ? 0 : *std::max_element(left.begin(), left.end());
  std::vector<VertexId> begin(std::size_t{most} + 2);  // by `left`: the first place in `order`
  for (const std::uint32_t count : left) ++begin[std::size_t{count} + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<VertexId> order(n);
  std::vector<VertexId> place(n);
  auto next = begin;
  for (VertexId v = 0; v < n; ++v) {
    place[v] = next[left[v]]++;
    order[place[v]] = v;
  }
  for (VertexId i = 0; i < n; ++i) {
    const VertexId v = order[i];
    for (const VertexId u : neighbours.DifferentOf(v)) {
      if (left[u] <= left[v]) continue;
      // Moves u to the front of the vertices with as many neighbours left, and then out of them.
      const VertexId first = std::max(begin[left[u]], i + 1);
      const VertexId other = order[first];
      std::swap(order[first], order[place[u]]);
      std::swap(place[other], place[u]);
      begin[left[u]] = first + 1;
      --left[u];
    }
  }
  return left;
}

// Takes the vertices in their order, and each that is not adjacent to an earlier one of the set. An
// arc may lead either way between the two.
std::vector<std::uint8_t> IndependentSet(const Csr& out_lists, const OriginalIds& ids,
                                         std::uint64_t seed) {
  std::vector<std::tuple<std::uint32_t, std::uint64_t, VertexId>> order;
  order.reserve(out_lists.vertices());
  for (VertexId v = 0; v < out_lists.vertices(); ++v) {
    order.emplace_back(PlaceInOrder(ids[v], seed), ids[v], v);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint8_t> member(out_lists.vertices());
  std::vector<bool> covered(out_lists.vertices());
  for (const auto& [place, id, v] : order) {
    const auto list = out_lists.list(v);
    const auto is_member = [&](VertexId u) { return member[u] != 0; };
    if (covered[v] || std::any_of(list.begin(), list.end(), is_member)) continue;
    member[v] = 1;
    for (const VertexId u : list) covered[u] = true;
  }
  return member;
}

}  // namespace slimgraph::dgemini::serial
