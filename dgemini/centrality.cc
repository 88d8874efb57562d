#include "dgemini/centrality.h"

#include "dgemini/shortest_paths.h"

namespace slimgraph {
namespace {

// Back again: what each vertex owes to those behind it.
template <typename Count>
struct Backward {
  using Value = Count;
  VertexArray<Count>& paths;  // (1 + dependency) / paths, once a vertex has had its turn
  VertexArray<double>& score;
  const VertexArray<std::uint32_t>& depth;
  const Frontier& behind;
  std::uint32_t level;  // of the vertices behind
  VertexId source;

  Count SumIf(std::span<const VertexId> ids, auto is_behind) const {
    Count sum{};
    for (const VertexId w : ids) {
      if (is_behind(w)) sum += paths[w];
    }
    return sum;
  }
  void Pull(VertexId v, const Neighbours& out) {
    // A bitmap is sooner looked at; without it, the depths tell.
    const Count sum = behind.marked()
                          ? SumIf(out.ids, [&](VertexId w) { return behind.Has(w); })
                          : SumIf(out.ids, [&](VertexId w) { return depth[w] == level; });
    const auto dependency = static_cast<double>(paths[v] * sum);
    paths[v] = Count(1 + dependency) / paths[v];
    if (v != source) score[v] += dependency;
  }
  Count Signal(VertexId v) const { return paths[v]; }
  void Mirror(VertexId v, Count value) { paths[v] = value; }
};

template <typename Count>
Status AddFrom(Engine& engine, VertexId source, Search& search, VertexArray<Count>& paths,
               VertexArray<double>& score) {
  Frontier& behind = search.in;
  for (; !search.levels.empty(); search.levels.pop_back()) {
    const auto level = static_cast<std::uint32_t>(search.levels.size());
    Backward<Count> step{paths, score, search.depth, behind, level, source};
    SLIM_TRY(engine.Collect(behind, search.levels.back(), step));
    behind.SetList(std::move(search.levels.back()));
  }
  return {};
}

}  // namespace

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources) {
  VertexArray<double> score(engine.vertices());
  for (const VertexId source : sources) {
    Search search{engine.Values(kUnreached),
                  Frontier(engine.vertices()),
                  Frontier(engine.vertices()),
                  1,
                  engine.arcs(),
                  {}};
    VertexArray<double> paths(engine.vertices());
    search.depth[source] = 0;
    paths[source] = 1;
    SLIM_TRY(engine.Activate(search.in, std::span(&source, 1)));
    SLIM_ASSIGN(const bool counted, CountPaths(engine, search, paths));
    if (counted) {
      SLIM_TRY(AddFrom(engine, source, search, paths, score));
      continue;
    }
    VertexArray<WideNumber> wide(engine.vertices());
    engine.ForEach([&](VertexId v) { wide[v] = WideNumber(paths[v]); });
    paths = {};
    SLIM_ASSIGN(const bool counted_widely, CountPaths(engine, search, wide));
    if (!counted_widely) return InputError("more than 2^32767 shortest paths lead to a vertex");
    SLIM_TRY(AddFrom(engine, source, search, wide, score));
  }
  return score;
}

}  // namespace slimgraph
