#include "dkudu/serial.h"

#include <algorithm>
#include <utility>

namespace slimgraph::dkudu::serial {
namespace {

// For each vertex its different neighbours, each as often as there are arcs between the two: once
// or twice. Ascending.
std::vector<std::vector<VertexId>> NeighboursByArcs(const Csr& out_lists, bool directed) {
  std::vector<std::vector<VertexId>> around(out_lists.vertices());
  const auto for_each_arc = [&](auto visit) {
    for (VertexId v = 0; v < out_lists.vertices(); ++v) {
      const auto list = out_lists.list(v);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] != v && (i == 0 || list[i] != list[i - 1])) visit(v, list[i]);
      }
    }
  };
  std::vector<std::size_t> counts(around.size());
  for_each_arc([&](VertexId v, VertexId w) {
    ++counts[v];
    ++counts[directed ? w : v];
  });
  for (std::size_t v = 0; v < around.size(); ++v) around[v].reserve(counts[v]);
  for_each_arc([&](VertexId v, VertexId w) {
    around[v].push_back(w);
    around[directed ? w : v].push_back(directed ? v : w);
  });
  for (auto& list : around) std::sort(list.begin(), list.end());
  return around;
}

struct Edge {
  VertexId to;
  std::uint8_t arcs;
};

}  // namespace

// Finds each triangle at its vertex of the lowest degree.
std::vector<LocalFigures> Local(const Csr& out_lists, bool directed) {
  auto around = NeighboursByArcs(out_lists, directed);
  std::vector<LocalFigures> figures(around.size());
  for (std::size_t v = 0; v < around.size(); ++v) {
    for (std::size_t i = 0; i < around[v].size(); ++i) {
      if (i == 0 || around[v][i] != around[v][i - 1]) ++figures[v].degree;
    }
  }
  const auto is_above = [&](VertexId a, VertexId b) {
    return std::pair(figures[a].degree, a) > std::pair(figures[b].degree, b);
  };
  std::vector<std::vector<Edge>> above(around.size());
  for (VertexId v = 0; v < around.size(); ++v) {
    for (const VertexId w : std::exchange(around[v], {})) {
      if (!is_above(w, v)) continue;
      if (above[v].empty() || above[v].back().to != w) above[v].push_back({w, 0});
      ++above[v].back().arcs;
    }
  }
  std::vector<std::uint8_t> arcs_to(around.size());  // from or to the current lowest vertex
  for (VertexId a = 0; a < above.size(); ++a) {
    for (const Edge& edge : above[a]) arcs_to[edge.to] = edge.arcs;
    for (const Edge& ab : above[a]) {
      for (const Edge& bc : above[ab.to]) {
        if (arcs_to[bc.to] == 0) continue;
        figures[a].arcs += bc.arcs;
        figures[ab.to].arcs += arcs_to[bc.to];
        figures[bc.to].arcs += ab.arcs;
      }
    }
    for (const Edge& edge : above[a]) arcs_to[edge.to] = 0;
  }
  return figures;
}

}  // namespace slimgraph::dkudu::serial
