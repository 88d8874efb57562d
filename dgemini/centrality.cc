#include "dgemini/programs.h"

#include "dgemini/internal/path_counts.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

// The backward pass of Brandes: accumulates each vertex's dependency from its successors.
template <typename Count>
struct Backward {
  using Value = Count;
  using Reduction = SumOfActive<Count, /*kAlsoOfNone=*/true>;
  VertexArray<Count>& paths;  // of a processed vertex: (1 + dependency) / paths
  VertexArray<double>& score;
  const Search& search;  // its `levels` are those that are not processed yet
  VertexId source;

  Count SumIf(std::span<const VertexId> ids, auto is_behind) const {
    Count sum{};
    for (const VertexId w : ids) {
      if (is_behind(w)) sum += paths[w];
    }
    return sum;
  }
  void Pull(VertexId v, const Neighbours& out) {
    // Successors are the neighbours in the next level. If that level has a bitmap, a test of it is
    // faster than a comparison of depths.
    const std::size_t next = search.levels.size();
    const Count sum = search.in.has_bitmap()
                          ? SumIf(out.ids, [&](VertexId w) { return search.in.Has(w); })
                          : SumIf(out.ids, [&](VertexId w) { return search.depth[w] == next; });
    Finish(v, sum);
  }
  void Finish(VertexId v, Count sum) {
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
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const VertexId source = sources[i];
    engine.job().SetProgress(i, sources.size());
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

}  // namespace slimgraph::dgemini
