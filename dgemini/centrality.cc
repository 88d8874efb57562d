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
  const Search& search;  // its levels are those that have not had theirs
  VertexId source;

  Count SumIf(std::span<const VertexId> ids, auto is_behind) const {
    Count sum{};
    for (const VertexId w : ids) {
      if (is_behind(w)) sum += paths[w];
    }
    return sum;
  }
  void Pull(VertexId v, const Neighbours& out) {
    // Behind are those of the next level. Where they have a bitmap, it is sooner looked at.
    const std::size_t next = search.levels.size();
    const Count sum = search.in.marked()
                          ? SumIf(out.ids, [&](VertexId w) { return search.in.Has(w); })
                          : SumIf(out.ids, [&](VertexId w) { return search.depth[w] == next; });
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
  Backward<Count> step{paths, score, search, source};
  for (; !search.levels.empty(); search.levels.pop_back()) {
    SLIM_TRY(engine.Collect(search.in, search.levels.back(), step));
    search.in.SetList(std::move(search.levels.back()));
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
