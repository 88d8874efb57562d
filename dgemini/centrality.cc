#include "dgemini/centrality.h"

#include <utility>

#include "dgemini/atomics.h"
#include "dgemini/bfs.h"

namespace slimgraph {
namespace {

// Outwards, level by level: how many shortest paths lead to each vertex.
struct Forward {
  using Value = double;
  static constexpr std::uint64_t kPullAbove = 20;

  VertexArray<std::uint32_t>& depth;
  VertexArray<double>& paths;
  const Frontier* in;
  std::uint32_t level;

  bool Reaches(VertexId v) {
    return ChangeFrom(depth[v], kUnreached, level) || Load(depth[v]) == level;
  }
  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    for (const VertexId v : out.ids) {
      if (!Reaches(v)) continue;
      Increase(paths[v], paths[u]);
      activate(v);
    }
  }
  double Partial(VertexId v) { return std::exchange(paths[v], 0.0); }
  bool Slot(VertexId v, double part) {
    if (!Reaches(v)) return false;
    paths[v] += part;
    return true;
  }
  bool Wants(VertexId v) const { return depth[v] == kUnreached; }
  bool Pull(VertexId v, const Neighbours& list) {
    double sum = 0;
    for (const VertexId u : list.ids) sum += in->Has(u) ? paths[u] : 0;
    if (sum == 0) return false;
    paths[v] = sum;
    depth[v] = level;
    return true;
  }
  double Signal(VertexId u) const { return paths[u]; }
  void Mirror(VertexId u, double value) {
    paths[u] = value;
    depth[u] = level - 1;
  }
};

// Back again: what each vertex owes to those behind it.
struct Backward {
  using Value = double;

  VertexArray<double>& paths;
  VertexArray<double>& given;  // (1 + dependency) / paths
  VertexArray<double>& score;
  const Frontier& behind;
  VertexId source;

  void Pull(VertexId v, const Neighbours& out) {
    double sum = 0;
    for (const VertexId w : out.ids) sum += behind.Has(w) ? given[w] : 0;
    const double dependency = paths[v] * sum;
    given[v] = (1 + dependency) / paths[v];
    if (v != source) score[v] += dependency;
  }
  double Signal(VertexId v) const { return given[v]; }
  void Mirror(VertexId v, double value) { given[v] = value; }
};

Status AddFrom(Engine& engine, VertexId source, VertexArray<double>& score) {
  auto depth = engine.Values(kUnreached);
  auto paths = engine.Values(0.0);
  depth[source] = 0;
  paths[source] = 1;
  Frontier in(engine.vertices());
  Frontier out(engine.vertices());
  SLIM_TRY(engine.Activate(in, std::span(&source, 1)));
  std::vector<std::vector<VertexId>> levels;  // the share's vertices
  for (Forward step{depth, paths, &in, 1}; !in.empty(); ++step.level) {
    engine.List(in);
    levels.push_back(in.list());
    SLIM_TRY(engine.Advance(in, step, out));
    std::swap(in, out);
  }
  auto given = engine.Values(0.0);
  for (; !levels.empty(); levels.pop_back()) {
    Backward step{paths, given, score, in, source};
    SLIM_TRY(engine.Collect(in, levels.back(), step));
    in.Clear();
    for (const VertexId v : levels.back()) in.Add(v);
    in.list() = std::move(levels.back());
  }
  return {};
}

}  // namespace

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources) {
  auto score = engine.Values(0.0);
  for (const VertexId source : sources) SLIM_TRY(AddFrom(engine, source, score));
  return score;
}

}  // namespace slimgraph
