#include <algorithm>

#include "dkudu/serial.h"

namespace slimgraph::dkudu::serial {
namespace {

// The edges of a graph that are left, and how many triangles of such edges each is in.
class EdgePeeling {
 public:
  explicit EdgePeeling(const std::vector<std::vector<VertexId>>& neighbours)
      : neighbours_(neighbours), number_(neighbours.size()) {
    for (VertexId a = 0; a < neighbours.size(); ++a) {
      number_[a].resize(neighbours[a].size());
      for (std::size_t i = 0; i < neighbours[a].size(); ++i) {
        const VertexId b = neighbours[a][i];
        number_[a][i] = b < a ? number_[b][PositionOf(b, a)] : ends_.size();
        if (b > a) ends_.push_back({a, b});
      }
    }
    triangles_.resize(ends_.size());
    left_.assign(ends_.size(), true);
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      ForEachTriangle(e, [&](std::size_t, std::size_t) { ++triangles_[e]; });
    }
  }

  // The trussness of each edge, by number. Always removes an edge of the fewest triangles; an edge
  // is listed again, among those of fewer triangles, when it loses one.
  std::vector<std::uint32_t> Run() {
    std::vector<std::uint32_t> trussness(ends_.size());
    std::vector<std::vector<std::size_t>> by_triangles;
    const auto list = [&](std::size_t e) {
      if (triangles_[e] >= by_triangles.size()) by_triangles.resize(triangles_[e] + 1);
      by_triangles[triangles_[e]].push_back(e);
    };
    for (std::size_t e = 0; e < ends_.size(); ++e) list(e);
    for (std::uint32_t least = 0; least < by_triangles.size(); ++least) {
      while (!by_triangles[least].empty()) {
        const std::size_t e = by_triangles[least].back();
        by_triangles[least].pop_back();
        if (!left_[e]) continue;
        trussness[e] = least + 2;
        ForEachTriangle(e, [&](std::size_t f, std::size_t g) {
          for (const std::size_t other : {f, g}) {
            if (triangles_[other] <= least) continue;
            --triangles_[other];
            list(other);
          }
        });
        left_[e] = false;
      }
    }
    return trussness;
  }

  std::size_t number(VertexId a, std::size_t i) const { return number_[a][i]; }

 private:
  std::size_t PositionOf(VertexId a, VertexId b) const {
    const auto& list = neighbours_[a];
    return static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), b) - list.begin());
  }
  // Calls visit(other edge, other edge) for the triangles of edges that are left.
  template <typename Visit>
  void ForEachTriangle(std::size_t e, Visit visit) const {
    const auto [a, b] = ends_[e];
    const auto& of_a = neighbours_[a];
    const auto& of_b = neighbours_[b];
    for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
      if (of_a[i] < of_b[j]) {
        ++i;
      } else if (of_a[i] > of_b[j]) {
        ++j;
      } else {
        const std::size_t f = number_[a][i++];
        const std::size_t g = number_[b][j++];
        if (left_[f] && left_[g]) visit(f, g);
      }
    }
  }

  struct Ends {
    VertexId a;
    VertexId b;
  };
  const std::vector<std::vector<VertexId>>& neighbours_;
  std::vector<std::vector<std::size_t>> number_;  // of the edge to each neighbour
  std::vector<Ends> ends_;
  std::vector<std::uint32_t> triangles_;
  std::vector<bool> left_;
};

}  // namespace

TrussLists Trussness(const Csr& lists) {
  TrussLists result;
  result.neighbours.resize(lists.vertices());
  result.trussness.resize(lists.vertices());
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    auto& neighbours = result.neighbours[v];
    neighbours.assign(lists.list(v).begin(), lists.list(v).end());
    std::erase(neighbours, v);
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  }
  EdgePeeling peeling(result.neighbours);
  const std::vector<std::uint32_t> trussness = peeling.Run();
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    for (std::size_t i = 0; i < result.neighbours[v].size(); ++i) {
      result.trussness[v].push_back(trussness[peeling.number(v, i)]);
    }
  }
  return result;
}

std::uint32_t TrussLists::Find(VertexId a, VertexId b) const {
  const auto& list = neighbours[a];
  const auto at = std::lower_bound(list.begin(), list.end(), b);
  if (at == list.end() || *at != b) return 0;
  return trussness[a][static_cast<std::size_t>(at - list.begin())];
}

}  // namespace slimgraph::dkudu::serial
