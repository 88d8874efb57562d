#include "dgemini/centrality.h"

#include "dgemini/shortest_paths.h"
#include "dgemini/wide_number.h"

namespace slimgraph {
namespace {

bool TooMany(double paths) { return paths > 1e290; }  // what is divided by it shall be precise
bool TooMany(WideNumber paths) { return paths.overflown(); }

// Back again: what each vertex owes to those behind it.
template <typename Count>
struct Backward {
  using Value = Count;
  VertexArray<Count>& paths;
  VertexArray<Count>& given;  // (1 + dependency) / paths
  VertexArray<double>& score;
  const Frontier& behind;
  VertexId source;

  void Pull(VertexId v, const Neighbours& out) {
    Count sum{};
    for (const VertexId w : out.ids) {
      if (behind.Has(w)) sum += given[w];
    }
    const auto dependency = static_cast<double>(paths[v] * sum);
    given[v] = Count(1 + dependency) / paths[v];
    if (v != source) score[v] += dependency;
  }
  Count Signal(VertexId v) const { return given[v]; }
  void Mirror(VertexId v, Count value) { given[v] = value; }
};

// Whether Count could hold the numbers of paths; if not, nothing is added.
template <typename Count>
Result<bool> AddFrom(Engine& engine, VertexId source, VertexArray<double>& score) {
  auto depth = engine.Values(kUnreached);
  VertexArray<Count> paths(engine.vertices());
  depth[source] = 0;
  paths[source] = Count(1);
  Frontier in(engine.vertices());
  Frontier out(engine.vertices());
  SLIM_TRY(engine.Activate(in, std::span(&source, 1)));
  std::vector<std::vector<VertexId>> levels;  // the share's vertices
  std::uint64_t too_many = 0;
  for (ShortestPaths<Count> step{depth, paths, &in, 1, engine.arcs()}; !in.empty(); ++step.level) {
    step.left -= in.active().edges;
    engine.List(in);
    levels.push_back(in.list());
    for (const VertexId v : in.list()) too_many += TooMany(paths[v]) ? 1 : 0;
    SLIM_TRY(engine.Advance(in, step, out));
    std::swap(in, out);
  }
  SLIM_TRY(engine.Reduce(std::span(&too_many, 1), std::plus<>()));
  if (too_many > 0) return false;
  VertexArray<Count> given(engine.vertices());
  for (; !levels.empty(); levels.pop_back()) {
    Backward<Count> step{paths, given, score, in, source};
    SLIM_TRY(engine.Collect(in, levels.back(), step));
    in.Clear();
    for (const VertexId v : levels.back()) in.Add(v);
    in.list() = std::move(levels.back());
  }
  return true;
}

}  // namespace

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources) {
  auto score = engine.Values(0.0);
  for (const VertexId source : sources) {
    SLIM_ASSIGN(const bool done, AddFrom<double>(engine, source, score));
    if (done) continue;
    SLIM_ASSIGN(const bool done_widely, AddFrom<WideNumber>(engine, source, score));
    if (!done_widely) return InputError("more than 2^32767 shortest paths lead to a vertex");
  }
  return score;
}

}  // namespace slimgraph
