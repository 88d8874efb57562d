#include "dgemini/pagerank.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "dgemini/atomics.h"
#include "dgemini/look_ahead.h"

namespace slimgraph {
namespace {

// Ranks are kept as what vertices give; those without edges keep theirs, and nobody asks for it.
struct Step {
  using Value = double;
  static constexpr std::uint64_t kPullAbove = 1;
  const VertexArray<std::uint32_t>& degree;
  double damping;
  double base;                                  // of each vertex: what is not given along edges
  VertexArray<double> next;                     // what each will give in the step that follows
  VertexArray<double> given{degree.size()};     // by each vertex along each of its edges
  VertexArray<double> received{degree.size()};  // of pushes; zero between steps

  double Edges(VertexId v) const { return std::max(1U, degree[v]); }
  void Settle(VertexId v, double sum) { next[v] = (base + damping * sum) / Edges(v); }
  double Moved(VertexId v) const { return std::abs(next[v] - given[v]) * Edges(v); }
  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    for (const VertexId v : out.ids) {
      Increase(received[v], given[u]);
      activate(v);
    }
  }
  double Partial(VertexId v) { return std::exchange(received[v], 0.0); }
  bool Slot(VertexId v, double part) {
    received[v] += part;
    return false;
  }
  std::true_type Wants(VertexId) const { return {}; }
  bool Pull(VertexId v, const Neighbours& in) {
    Settle(v, SumAt(given, in));
    return false;
  }
  double Signal(VertexId u) const { return given[u]; }
  void Mirror(VertexId u, double value) { given[u] = value; }
};

}  // namespace

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options) {
  const VertexId vertices = engine.vertices();
  SLIM_ASSIGN(const auto degree, engine.Degrees());
  Frontier all(vertices);
  Frontier out(vertices);
  engine.ActivateAll(all);
  SLIM_ASSIGN(const double edgeless, engine.Sum([&](VertexId v) { return degree[v] == 0; }));
  Step step{degree, options.damping, 1.0 / vertices, engine.ShareValues<double>()};
  const auto settle = [&](VertexId v) { step.Settle(v, step.Partial(v)); };
  engine.ForEach([&](VertexId v) { step.Settle(v, 0); });
  std::uint64_t iterations = 0;
  double change = INFINITY;
  while (options.tolerance ? change > *options.tolerance : iterations < options.iterations) {
    engine.Replace(step.given, step.next);
    // Where both ends have an edge, nothing leads to vertices without one.
    const auto at = [&](VertexId v) { return degree[v] == 0 ? step.given[v] : 0; };
    SLIM_ASSIGN(double dangling, engine.directed() ? engine.Sum(at) : double{step.base * edgeless});
    step.base = (1 - options.damping + options.damping * dangling) / vertices;
    SLIM_TRY(engine.Advance(all, step, out));
    if (engine.mode() == Mode::kPush) engine.ForEach(settle);
    if (options.tolerance) {
      SLIM_ASSIGN(change, engine.Sum([&](VertexId v) { return step.Moved(v); }));
    }
    ++iterations;
  }
  engine.ForEach([&](VertexId v) { step.next[v] *= step.Edges(v); });
  return PageRanks{std::move(step.next), iterations};
}

}  // namespace slimgraph
