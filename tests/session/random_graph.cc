#include "tests/session/random_graph.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace slimgraph::test {
namespace {

Lists EmptyLists(const RandomGraph& graph) {
  Lists lists;
  for (const std::uint64_t v : graph.src) lists[v];
  for (const std::uint64_t v : graph.dst) lists[v];
  return lists;
}

void AddArc(Lists& lists, std::uint64_t from, std::uint64_t to, double weight) {
  if (from == to) return;
  const auto [arc, is_new] = lists[from].emplace(to, weight);
  if (!is_new) arc->second = std::min(arc->second, weight);
}

Lists ListsOf(const RandomGraph& graph, bool out, bool in) {
  Lists lists = EmptyLists(graph);
  for (std::size_t i = 0; i < graph.src.size(); ++i) {
    const double weight = graph.weights.empty() ? 1 : graph.weights[i];
    if (out) AddArc(lists, graph.src[i], graph.dst[i], weight);
    if (in) AddArc(lists, graph.dst[i], graph.src[i], weight);
  }
  return lists;
}

}  // namespace

RandomGraph MakeRandomGraph(std::mt19937_64& random, bool directed, bool weighted) {
  RandomGraph graph{.src = {}, .dst = {}, .weights = {}, .directed = directed};
  const std::size_t vertices = 2 + random() % 300;
  const bool dense_ids = random() % 2 == 0;
  std::vector<std::uint64_t> ids;
  for (std::size_t v = 0; v < vertices; ++v) ids.push_back(dense_ids ? 5 + v : random() >> 1);
  const std::size_t edges = 1 + random() % (6 * vertices);
  const auto any = [&] {
    // Some vertices have many edges.
    return random() % 4 == 0 ? ids[random() % (1 + vertices / 20)] : ids[random() % vertices];
  };
  for (std::size_t i = 0; i < edges; ++i) {
    graph.src.push_back(any());
    graph.dst.push_back(any());
    if (weighted) graph.weights.push_back(static_cast<double>(random() % 1000) / 8);
  }
  return graph;
}

Lists OutLists(const RandomGraph& graph) { return ListsOf(graph, true, !graph.directed); }
Lists InLists(const RandomGraph& graph) { return ListsOf(graph, !graph.directed, true); }

ById<std::uint32_t> HopsFrom(const Lists& out, std::uint64_t source) {
  ById<std::uint32_t> hops;
  for (const auto& [v, list] : out) hops[v] = std::numeric_limits<std::uint32_t>::max();
  hops[source] = 0;
  std::queue<std::uint64_t> next({source});
  for (; !next.empty(); next.pop()) {
    const std::uint64_t u = next.front();
    for (const auto& [v, weight] : out.at(u)) {
      if (hops[v] != std::numeric_limits<std::uint32_t>::max()) continue;
      hops[v] = hops[u] + 1;
      next.push(v);
    }
  }
  return hops;
}

ById<double> DistancesFrom(const Lists& out, std::uint64_t source) {
  ById<double> distance;
  for (const auto& [v, list] : out) distance[v] = std::numeric_limits<double>::infinity();
  distance[source] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, list] : out) {
      for (const auto& [v, weight] : list) {
        if (distance[u] + weight >= distance[v]) continue;
        distance[v] = distance[u] + weight;
        changed = true;
      }
    }
  }
  return distance;
}

ById<std::uint32_t> CoreNumbers(Lists lists) {
  ById<std::uint32_t> core;
  std::uint32_t k = 0;
  while (!lists.empty()) {
    const auto lowest = std::min_element(
        lists.begin(), lists.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const std::uint64_t v = lowest->first;
    k = std::max(k, static_cast<std::uint32_t>(lowest->second.size()));
    core[v] = k;
    for (const auto& [u, weight] : lowest->second) lists[u].erase(v);
    lists.erase(v);
  }
  return core;
}

namespace {

// Each vertex counts the labels in all of its lists.
ById<std::uint64_t> LabelsBy(const std::vector<Lists>& sides, std::uint64_t steps) {
  ById<std::uint64_t> labels;
  for (const auto& [v, list] : sides[0]) labels[v] = v;
  for (; steps > 0; --steps) {
    const auto before = labels;
    for (auto& [v, own] : labels) {
      std::map<std::uint64_t, std::size_t> counts;
      for (const Lists& side : sides) {
        for (const auto& [u, weight] : side.at(v)) ++counts[before.at(u)];
      }
      std::size_t most = 0;
      for (const auto& [label, count] : counts) {
        if (count <= most) continue;
        most = count;
        own = label;
      }
    }
  }
  return labels;
}

}  // namespace

ById<std::uint64_t> LabelsAfter(const Lists& in, std::uint64_t steps) {
  return LabelsBy({in}, steps);
}

ById<std::uint64_t> CommunitiesAfter(const RandomGraph& graph, std::uint64_t steps) {
  if (!graph.directed) return LabelsBy({OutLists(graph)}, steps);
  return LabelsBy({OutLists(graph), InLists(graph)}, steps);
}

ById<double> ClusteringOf(const RandomGraph& graph) {
  const Lists out = OutLists(graph);
  ById<double> clustering;
  for (const auto& [v, list] : ListsOf(graph, true, true)) {
    double arcs = 0;
    for (const auto& [a, weight_a] : list) {
      for (const auto& [b, weight_b] : list) arcs += out.at(a).contains(b) ? 1 : 0;
    }
    const auto degree = static_cast<double>(list.size());
    clustering[v] = degree < 2 ? 0 : arcs / (degree * (degree - 1));
  }
  return clustering;
}

ById<double> RanksFrom(const Lists& out, const Lists& in, std::uint64_t source,
                       std::uint64_t iterations) {
  ById<double> rank;
  for (const auto& [v, list] : out) rank[v] = v == source ? 1 : 0;
  for (; iterations > 0; --iterations) {
    ById<double> next;
    double given = 0;
    for (const auto& [v, list] : in) {
      double sum = 0;
      for (const auto& [u, weight] : list) sum += rank[u] / static_cast<double>(out.at(u).size());
      next[v] = 0.85 * sum;
      given += next[v];
    }
    next[source] += 1 - given;
    rank = next;
  }
  return rank;
}

ById<double> Ranks(const Lists& out, const Lists& in, std::uint64_t iterations) {
  const auto n = static_cast<double>(out.size());
  ById<double> rank;
  for (const auto& [v, list] : out) rank[v] = 1 / n;
  for (; iterations > 0; --iterations) {
    double dangling = 0;
    for (const auto& [v, list] : out) dangling += list.empty() ? rank[v] : 0;
    ById<double> next;
    for (const auto& [v, list] : in) {
      double sum = dangling / n;
      for (const auto& [u, weight] : list) sum += rank[u] / static_cast<double>(out.at(u).size());
      next[v] = 0.15 / n + 0.85 * sum;
    }
    rank = next;
  }
  return rank;
}

ById<std::uint64_t> SmallestReached(const RandomGraph& graph) {
  const Lists lists = ListsOf(graph, true, true);
  ById<std::uint64_t> smallest;
  for (const auto& [v, list] : lists) {
    if (smallest.contains(v)) continue;
    for (const auto& [u, hops] : HopsFrom(lists, v)) {
      if (hops != std::numeric_limits<std::uint32_t>::max()) smallest[u] = v;
    }
  }
  return smallest;
}

ById<std::uint64_t> TrianglesAt(const Lists& lists) {
  ById<std::uint64_t> triangles;
  for (const auto& [v, list] : lists) {
    triangles[v] = 0;
    for (const auto& [a, weight_a] : list) {
      for (const auto& [b, weight_b] : list) triangles[v] += a < b && lists.at(a).contains(b);
    }
  }
  return triangles;
}

std::vector<std::array<std::uint64_t, 3>> TrussnessOf(Lists lists) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> trussness;
  for (std::uint64_t k = 2; std::ranges::any_of(lists, [](auto& v) { return !v.second.empty(); });
       ++k) {
    for (bool removed = true; removed;) {
      removed = false;
      for (auto& [a, list] : lists) {
        const Lists::mapped_type neighbours = list;
        for (const auto& [b, weight] : neighbours) {
          if (a >= b) continue;
          trussness[{a, b}] = k;
          std::uint64_t triangles = 0;
          for (const auto& [c, other] : list) triangles += lists.at(b).contains(c) ? 1 : 0;
          if (triangles > k - 2) continue;  // it is in the (k + 1)-truss, as far as is known
          lists.at(b).erase(a);
          list.erase(b);
          removed = true;
        }
      }
    }
  }
  std::vector<std::array<std::uint64_t, 3>> edges;
  for (const auto& [ends, k] : trussness) edges.push_back({ends.first, ends.second, k});
  return edges;
}

Graph OpenRandom(Session& session, const RandomGraph& graph) {
  auto opened = Graph::FromEdges(session, graph.arrays());
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

}  // namespace slimgraph::test
