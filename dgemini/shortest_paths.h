// A breadth-first search that counts the shortest paths to each vertex, in numbers of the kind
// Count, and can go on in numbers of another kind.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "dgemini/atomics.h"
#include "dgemini/bfs.h"
#include "dgemini/engine.h"
#include "dgemini/look_ahead.h"
#include "dgemini/wide_number.h"

namespace slimgraph {

// From one level to the next their number grows by less than 2^32: that of eight levels on, a
// double still holds.
inline bool TooMany(double paths) { return paths > 1e200; }
inline bool TooMany(WideNumber paths) { return paths.overflown(); }
constexpr std::uint32_t kLevelsAtOnce = 8;

template <typename Count>
struct ShortestPaths {
  using Value = Count;
  // Few numbers of paths are so large that a float is not precise.
  using Short = std::conditional_t<std::is_same_v<Count, double>, float, Count>;
  static constexpr std::uint64_t kPullAbove = 20;
  static constexpr bool kActivatesOnce = true;

  VertexArray<std::uint32_t>& depth;
  VertexArray<Count>& paths;
  const Frontier* in;
  std::uint32_t level;  // of the vertices that are reached now
  std::uint64_t left;   // arcs of vertices that are not reached

  bool too_many = false;

  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    Examine(paths[u]);
    WithValues(depth, out, [&](std::size_t, VertexId v) {
      const bool first = ChangeFrom(depth[v], kUnreached, level);
      if (!first && Load(depth[v]) != level) return;
      Increase(paths[v], paths[u]);
      if (first) activate(v);
    });
  }
  const void* At(VertexId v) const { return &paths[v]; }
  Count Partial(VertexId v) { return std::exchange(paths[v], Count()); }
  bool Slot(VertexId v, Count part) {
    const bool first = ChangeFrom(depth[v], kUnreached, level);
    if (first || depth[v] == level) paths[v] += part;
    return first;
  }
  bool Wants(VertexId v) const { return depth[v] == kUnreached; }
  bool Pull(VertexId v, const Neighbours& list) {
    Count sum{};
    for (const VertexId u : list.ids) {
      if (in->Has(u)) sum += paths[u];
    }
    if (sum == Count()) return false;
    Examine(sum);
    paths[v] = sum;
    depth[v] = level;
    return true;
  }
  Count Signal(VertexId u) const { return paths[u]; }
  void Mirror(VertexId u, Count value) {
    paths[u] = value;
    depth[u] = level - 1;
  }
  void Examine(Count so_many) {
    if (TooMany(so_many)) [[unlikely]]
      Store(too_many, true);
  }
};

// A search from one source, so far.
struct Search {
  VertexArray<std::uint32_t> depth;
  Frontier in;
  Frontier out;
  std::uint32_t level;              // of the vertices that are reached next
  std::uint64_t left;               // arcs of vertices that are not reached
  std::vector<VertexLists> levels;  // the share's vertices
};

// Goes on with a search; returns false where Count will not hold the numbers of paths.
template <typename Count>
Result<bool> CountPaths(Engine& engine, Search& search, VertexArray<Count>& paths) {
  auto& [depth, in, out, level, left, levels] = search;
  for (ShortestPaths<Count> step{depth, paths, &in, level, left}; !in.empty();) {
    engine.List(in);
    SLIM_TRY(engine.Advance(in, step, out));
    levels.push_back(in.TakeList());
    std::swap(in, out);
    level = ++step.level;
    left = step.left;
    if (level % kLevelsAtOnce != 0 && !in.empty()) continue;
    std::uint64_t too_many = step.too_many ? 1 : 0;
    SLIM_TRY(engine.Reduce(std::span(&too_many, 1), std::plus<>()));
    if (too_many > 0) return false;
  }
  return true;
}

}  // namespace slimgraph
