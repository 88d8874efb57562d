// A breadth-first search that counts the shortest paths to each vertex. Counts have the type Count;
// an unfinished search can continue with another type.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "dgemini/engine.h"
#include "dgemini/internal/atomics.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reductions.h"
#include "dgemini/internal/wide_number.h"
#include "dgemini/programs.h"

namespace slimgraph::dgemini {

// From one level to the next a count grows by a factor below 2^32. So a count that is at most 1e200
// still fits into a double eight levels later.
inline bool TooMany(double paths) { return paths > 1e200; }
inline bool TooMany(WideNumber paths) { return paths.overflown(); }
constexpr std::uint32_t kLevelsAtOnce = 8;

template <typename Count>
struct PathCounts {
  using Value = Count;
  // Most counts are so small that a float holds them exactly.
  using Short = std::conditional_t<std::is_same_v<Count, double>, float, Count>;
  using Reduction = SumOfActive<Count, /*kAlsoOfNone=*/false, Short>;
  static constexpr std::uint64_t kPullAbove = 20;
  static constexpr bool kActivatesOnce = true;

  VertexArray<std::uint32_t>& depth;
  VertexArray<Count>& paths;
  const Frontier* in;
  std::uint32_t level;  // the depth of the vertices that this step reaches
  std::uint64_t left;   // arcs of vertices that are not reached yet

  bool too_many = false;

  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    const Count so_many = paths[u];
    Examine(so_many);
    ForEachPrefetched(depth, out, [&](std::size_t, VertexId v, std::uint32_t& at) {
      const bool first = ChangeFrom(at, kUnreached, level);
      if (!first && Load(at) != level) return;
      Increase(paths[v], so_many);
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
    return sum != Count() && Finish(v, sum);
  }
  bool Finish(VertexId v, Count sum) {
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

// The state of a search from one source.
struct Search {
  VertexArray<std::uint32_t> depth;
  Frontier in;
  Frontier out;
  std::uint32_t level;              // the depth of the vertices that the next step reaches
  std::uint64_t left;               // arcs of vertices that are not reached yet
  std::vector<VertexLists> levels;  // the share's vertices, by depth
};

enum class Counted { kAll, kTooMany, kLeft };

// Continues a search to its end. Stops if counts become too large for Count, or if leave() returns
// true, which is called before each level. Of a search that others have left, the counts so far
// have not been examined here.
template <typename Count, typename Leaves>
Result<Counted> CountPaths(Engine& engine, Search& search, VertexArray<Count>& paths, bool resumed,
                           Leaves leave) {
  auto& [depth, in, out, level, left, levels] = search;
  PathCounts<Count> step{depth, paths, &in, level, left};
  if (resumed) engine.ForEach([&](VertexId v) { step.Examine(paths[v]); });
  while (!in.empty()) {
    SLIM_ASSIGN(const bool leaves, leave());
    if (leaves) return Counted::kLeft;
    engine.List(in);
    SLIM_TRY(engine.Advance(in, step, out));
    levels.push_back(in.TakeList());
    std::swap(in, out);
    level = ++step.level;
    left = step.left;
    if (level % kLevelsAtOnce != 0 && !in.empty()) continue;
    std::uint64_t too_many = step.too_many ? 1 : 0;
    SLIM_TRY(engine.Reduce(std::span(&too_many, 1), std::plus<>()));
    if (too_many > 0) return Counted::kTooMany;
  }
  return Counted::kAll;
}

}  // namespace slimgraph::dgemini
