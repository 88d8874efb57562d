#include "dgemini/pagerank.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dgemini/atomics.h"
#include "dgemini/sum_at.h"

namespace slimgraph {
namespace {

// Ranks are kept as what vertices give; those without edges keep theirs, and nobody asks for it.
struct Step {
  using Value = double;
  static constexpr std::uint64_t kPullAbove = 1;
  const VertexArray<double>& share;  // of its rank that a vertex gives along each edge
  double damping;
  double base;                                 // of each vertex: what is not given along edges
  VertexArray<double> given{share.size()};     // by each vertex along each of its edges
  VertexArray<double> next{share.size()};      // what it will give in the step that follows
  VertexArray<double> received{share.size()};  // of pushes; zero between steps

  void Settle(VertexId v, double sum) { next[v] = (base + damping * sum) * share[v]; }

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

  bool Wants(VertexId) const { return true; }
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
  VertexArray<double> share(vertices);
  engine.ForEach([&](VertexId v) { share[v] = 1.0 / std::max(1U, degree[v]); });
  Frontier all(vertices);
  Frontier out(vertices);
  engine.ActivateAll(all);
  Step step{share, options.damping, 1.0 / vertices};
  const auto settle = [&](VertexId v) { step.Settle(v, step.Partial(v)); };
  const auto moved = [&](VertexId v) { return std::abs(step.next[v] - step.given[v]) / share[v]; };
  engine.ForEach(settle);
  PageRanks ranks{VertexArray<double>(vertices), 0};
  double change = INFINITY;
  while (options.tolerance ? change > *options.tolerance : ranks.iterations < options.iterations) {
    std::swap(step.given, step.next);
    SLIM_ASSIGN(const double dangling,
                engine.Sum([&](VertexId v) { return degree[v] == 0 ? step.given[v] : 0; }));
    step.base = (1 - options.damping + options.damping * dangling) / vertices;
    SLIM_TRY(engine.Advance(all, step, out));
    if (engine.mode() == Mode::kPush) engine.ForEach(settle);
    if (options.tolerance) {
      SLIM_ASSIGN(change, engine.Sum(moved));
    }
    ++ranks.iterations;
  }
  engine.ForEach([&](VertexId v) { ranks.rank[v] = step.next[v] / share[v]; });
  return ranks;
}

}  // namespace slimgraph
