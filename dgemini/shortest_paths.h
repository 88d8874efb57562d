// A step of a breadth-first search that counts the shortest paths to each vertex, in numbers of the
// kind Count.
#pragma once

#include <type_traits>
#include <utility>

#include "dgemini/atomics.h"
#include "dgemini/bfs.h"
#include "dgemini/look_ahead.h"

namespace slimgraph {

template <typename Count>
struct ShortestPaths {
  using Value = Count;
  // Few numbers of paths are so large that a float is not precise.
  using Short = std::conditional_t<std::is_same_v<Count, double>, float, Count>;
  static constexpr std::uint64_t kPullAbove = 20;

  VertexArray<std::uint32_t>& depth;
  VertexArray<Count>& paths;
  const Frontier* in;
  std::uint32_t level;  // of the vertices that are reached now
  std::uint64_t left;   // arcs of vertices that are not reached

  bool Reaches(VertexId v) {
    return ChangeFrom(depth[v], kUnreached, level) || Load(depth[v]) == level;
  }
  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    WithValues(depth, out.ids, [&](std::size_t, VertexId v) {
      if (!Reaches(v)) return;
      Increase(paths[v], paths[u]);
      activate(v);
    });
  }
  Count Partial(VertexId v) { return std::exchange(paths[v], Count()); }
  bool Slot(VertexId v, Count part) {
    if (!Reaches(v)) return false;
    paths[v] += part;
    return true;
  }
  bool Wants(VertexId v) const { return depth[v] == kUnreached; }
  bool Pull(VertexId v, const Neighbours& list) {
    Count sum{};
    for (const VertexId u : list.ids) {
      if (in->Has(u)) sum += paths[u];
    }
    if (sum == Count()) return false;
    paths[v] = sum;
    depth[v] = level;
    return true;
  }
  Count Signal(VertexId u) const { return paths[u]; }
  void Mirror(VertexId u, Count value) {
    paths[u] = value;
    depth[u] = level - 1;
  }
};

}  // namespace slimgraph
