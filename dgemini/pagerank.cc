#include "dgemini/programs.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

// Stores a rank as what the vertex gives along each of its edges: rank / degree. For a vertex
// without edges it is the rank itself; no other vertex reads it. `Given` is what crosses edges and
// nodes; sums are doubles.
template <typename Given>
struct PageRankStep {
  using Value = Given;
  using Reduction = SumOfAll<Given>;
  static constexpr std::uint64_t kPullAbove = 1;
  const VertexArray<std::uint32_t>& degree;
  double damping;
  double base;                                  // the part of every rank that edges do not give
  VertexArray<double> next;                     // the next step's `given`
  VertexArray<Given> given{degree.size()};      // what each vertex gives along each of its edges
  VertexArray<double> received{degree.size()};  // sums of pushed values; zero between steps

  double Edges(VertexId v) const { return std::max(1U, degree[v]); }
  void SetNext(VertexId v, double sum) { next[v] = (base + damping * sum) / Edges(v); }
  double Change(VertexId v) const { return std::abs(next[v] - given[v]) * Edges(v); }
  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    for (const VertexId v : out.ids) {
      Increase(received[v], double{given[u]});
      activate(v);
    }
  }
  double TakeReceived(VertexId v) { return std::exchange(received[v], 0.0); }
  Given Partial(VertexId v) { return static_cast<Given>(TakeReceived(v)); }
  bool Slot(VertexId v, Given part) {
    received[v] += part;
    return false;
  }
  std::true_type Wants(VertexId) const { return {}; }
  bool Pull(VertexId v, const Neighbours& in) { return Finish(v, SumAt<double>(given, in)); }
  bool Finish(VertexId v, double sum) {
    SetNext(v, sum);
    return false;
  }
  Given Signal(VertexId u) const { return given[u]; }
  void Mirror(VertexId u, Given value) { given[u] = value; }
};

template <typename Given>
Result<PageRanks> RankBy(Engine& engine, const PageRankOptions& options) {
  const VertexId vertices = engine.vertices();
  SLIM_ASSIGN(const auto degree, engine.Degrees());
  Frontier all(vertices);
  Frontier out(vertices);
  engine.ActivateAll(all);
  SLIM_ASSIGN(const double edgeless, engine.Sum([&](VertexId v) { return degree[v] == 0; }));
  const std::optional<VertexId> source = options.source;
  PageRankStep<Given> step{degree, options.damping, source ? 0 : 1.0 / vertices,
                           engine.ShareValues<double>()};
  const auto set_next = [&](VertexId v) { step.SetNext(v, step.TakeReceived(v)); };
  const auto give_source = [&](double rank) {
    if (source && engine.mine(*source)) step.next[*source] += rank / step.Edges(*source);
  };
  std::uint64_t iterations = 0;
  double change = INFINITY;
  OfShare next{step.next};
  SLIM_ASSIGN(const bool resumed, Resume(engine, next, step.base, iterations, change));
  if (!resumed) {
    engine.ForEach([&](VertexId v) { step.SetNext(v, 0); });
    give_source(1);
  }
  const std::uint64_t most = options.tolerance ? options.most_iterations : options.iterations;
  while (iterations < most && !(options.tolerance && change <= *options.tolerance)) {
    SLIM_ASSIGN(const bool left, Leave(engine, next, step.base, iterations, change));
    if (left) break;
    engine.Replace(step.given, step.next);
    // In an undirected graph no edge leads to a vertex without edges, so all of these have the rank
    // `base`, unless one of them is the source.
    const auto at = [&](VertexId v) { return degree[v] == 0 ? double{step.given[v]} : 0; };
    SLIM_ASSIGN(const double dangling,
                engine.directed() || source ? engine.Sum(at) : double{step.base * edgeless});
    const double not_by_edges = 1 - options.damping + options.damping * dangling;
    step.base = source ? 0 : not_by_edges / vertices;
    SLIM_TRY(engine.Advance(all, step, out));
    if (engine.mode() == Mode::kPush) engine.ForEach(set_next);
    give_source(not_by_edges);
    if (options.tolerance) {
      SLIM_ASSIGN(change, engine.Sum([&](VertexId v) { return step.Change(v); }));
    }
    ++iterations;
    if (!options.tolerance) engine.job().SetProgress(iterations, most);
  }
  engine.ForEach([&](VertexId v) { step.next[v] *= step.Edges(v); });
  return PageRanks{std::move(step.next), iterations, change};
}

}  // namespace

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options) {
  return options.precision == Precision::kFloat ? RankBy<float>(engine, options)
                                                : RankBy<double>(engine, options);
}

}  // namespace slimgraph::dgemini
