#include "slimgraph/files/internal/vertex_order.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace slimgraph::internal {
namespace {

using Vertices = std::vector<VertexId>;
using Degrees = std::vector<std::uint64_t>;

template <typename Function>
void ForEachEndPoints(const RawGraph& graph, Function function) {
  for (const EdgeBlock& block : graph.blocks) {
    for (const NarrowEdge& edge : block.narrow()) function(edge.src, edge.dst);
  }
}

Degrees DegreesOf(const RawGraph& graph, VertexId count) {
  Degrees degrees(count);
  ForEachEndPoints(graph, [&](VertexId u, VertexId v) {
    ++degrees[u];
    ++degrees[v];
  });
  return degrees;
}

// The neighbours of each vertex, in both directions.
class Neighbours {
 public:
  Neighbours(const RawGraph& graph, const Degrees& degrees) : ends_(degrees.size() + 1) {
    for (std::size_t v = 0; v < degrees.size(); ++v) ends_[v + 1] = ends_[v] + degrees[v];
    all_.resize(ends_.back());
    std::vector<std::uint64_t> next(ends_.begin(), ends_.end() - 1);
    ForEachEndPoints(graph, [&](VertexId u, VertexId v) {
      all_[next[u]++] = v;
      all_[next[v]++] = u;
    });
  }
  std::span<VertexId> of(VertexId v) {
    return std::span(all_).subspan(ends_[v], ends_[v + 1] - ends_[v]);
  }

 private:
  std::vector<std::uint64_t> ends_;
  Vertices all_;
};

// The order of Cuthill and McKee: level by level from a vertex at the rim of each component, in
// each level by the parents' order and then by degree; at the end all of it backwards.
class LevelOrder {
 public:
  LevelOrder(const RawGraph& graph, const Vertices& vertices, const Degrees& degrees)
      : degrees_(degrees),
        neighbours_(graph, degrees),
        rank_(degrees.size()),
        seen_(degrees.size()) {
    for (VertexId i = 0; i < vertices.size(); ++i) rank_[vertices[i]] = i;
    for (VertexId v = 0; v < degrees.size(); ++v) {
      std::ranges::sort(neighbours_.of(v), [this](VertexId a, VertexId b) { return Less(a, b); });
    }
  }

  // `vertices` in ascending order of their ids.
  Vertices Find(Vertices vertices) {
    std::ranges::sort(vertices, [this](VertexId a, VertexId b) { return Less(a, b); });
    Vertices order;
    std::vector<bool> done(vertices.size());
    for (const VertexId v : vertices) {
      if (done[v]) continue;
      Walk(AtTheRim(v));
      for (const VertexId reached : walk_) done[reached] = true;
      order.insert(order.end(), walk_.begin(), walk_.end());
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  static constexpr int kMostWalks = 8;

  bool Less(VertexId a, VertexId b) const {
    return std::tuple(degrees_[a], rank_[a]) < std::tuple(degrees_[b], rank_[b]);
  }

  // Breadth-first from `start` into walk_. Returns the number of levels.
  std::size_t Walk(VertexId start) {
    ++walks_;
    walk_.assign(1, start);
    seen_[start] = walks_;
    std::size_t levels = 0;
    for (std::size_t begin = 0; begin < walk_.size(); ++levels) {
      last_level_ = begin;
      for (const std::size_t end = walk_.size(); begin < end; ++begin) {
        for (const VertexId v : neighbours_.of(walk_[begin])) {
          if (seen_[v] == walks_) continue;
          seen_[v] = walks_;
          walk_.push_back(v);
        }
      }
    }
    return levels;
  }

  // A vertex from which its component has many levels.
  VertexId AtTheRim(VertexId start) {
    std::size_t most = 0;
    for (int i = 0; i < kMostWalks; ++i) {
      const std::size_t levels = Walk(start);
      if (levels <= most) break;
      most = levels;
      start = *std::min_element(walk_.begin() + static_cast<std::ptrdiff_t>(last_level_),
                                walk_.end(), [this](VertexId a, VertexId b) { return Less(a, b); });
    }
    return start;
  }

  const Degrees& degrees_;
  Neighbours neighbours_;
  Vertices rank_;                    // by dense id: the place among the original ids
  std::vector<std::uint64_t> seen_;  // by dense id: the last walk that reached it
  std::uint64_t walks_ = 0;
  Vertices walk_;
  std::size_t last_level_ = 0;  // where it begins in walk_
};

}  // namespace

std::vector<VertexId> VerticesInOrder(const RawGraph& graph, const OriginalIds& ids,
                                      VertexOrder order) {
  Vertices vertices(ids.count());
  for (VertexId i = 0; i < ids.count(); ++i) vertices[i] = ids.InOrder(i);
  if (order == VertexOrder::kIds || vertices.empty()) return vertices;
  const Degrees degrees = DegreesOf(graph, ids.count());
  switch (order) {
    case VertexOrder::kIds:
      break;
    case VertexOrder::kDegree:
      std::stable_sort(vertices.begin(), vertices.end(),
                       [&](VertexId a, VertexId b) { return degrees[a] > degrees[b]; });
      break;
    case VertexOrder::kLevels:
      return LevelOrder(graph, vertices, degrees).Find(vertices);
  }
  return vertices;
}

}  // namespace slimgraph::internal
