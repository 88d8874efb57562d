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
  const Frontier& behind;
  VertexId source;

  void Pull(VertexId v, const Neighbours& out) {
    Count sum{};
    for (const VertexId w : out.ids) {
      if (behind.Has(w)) sum += paths[w];
    }
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
    std::vector<VertexId>& level = search.levels.back();
    Backward<Count> step{paths, score, behind, source};
    SLIM_TRY(engine.Collect(behind, level, step));
    behind.Clear();
    for (const VertexId v : level) behind.Add(v);
    behind.list() = std::move(level);
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
