#include "dgemini/pagerank.h"

#include <cmath>
#include <utility>

#include "dgemini/atomics.h"
#include "dgemini/sum_at.h"

namespace slimgraph {
namespace {

struct Step {
  using Value = double;
  static constexpr std::uint64_t kPullAbove = 1;

  const VertexArray<double>& share;  // of its rank that a vertex gives along each edge
  VertexArray<double>& rank;
  VertexArray<double> given;     // by each vertex along each of its edges
  VertexArray<double> next;      // what it will give in the step that follows
  VertexArray<double> received;  // of pushes; zero between steps
  double damping;
  double base = 0;  // what each vertex has of what is not given along edges

  void Settle(VertexId v, double sum) {
    rank[v] = base + damping * sum;
    next[v] = rank[v] * share[v];
  }

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
  const double n = engine.vertices();
  const bool pushes = engine.mode() == Mode::kPush;
  SLIM_ASSIGN(const auto degree, engine.Degrees());
  VertexArray<double> share(engine.vertices());
  engine.ForEach([&](VertexId v) { share[v] = degree[v] == 0 ? 0 : 1.0 / degree[v]; });
  PageRanks ranks{VertexArray<double>(engine.vertices()), 0};
  auto& rank = ranks.rank;
  VertexArray<double> before(options.tolerance ? engine.vertices() : 0);
  Frontier all(engine.vertices());
  Frontier out(engine.vertices());
  engine.ActivateAll(all);
  const auto zeros = [&] { return VertexArray<double>(engine.vertices()); };
  Step step{share, rank, zeros(), zeros(), zeros(), options.damping};
  step.base = 1 / n;
  engine.ForEach([&](VertexId v) { step.Settle(v, 0); });
  double change = INFINITY;
  while (options.tolerance ? change > *options.tolerance : ranks.iterations < options.iterations) {
    SLIM_ASSIGN(const double dangling,
                engine.Sum([&](VertexId v) { return share[v] == 0 ? rank[v] : 0; }));
    std::swap(step.given, step.next);
    if (options.tolerance) engine.ForEach([&](VertexId v) { before[v] = rank[v]; });
    step.base = (1 - options.damping + options.damping * dangling) / n;
    SLIM_TRY(engine.Advance(all, step, out));
    if (pushes) {
      engine.ForEach([&](VertexId v) { step.Settle(v, std::exchange(step.received[v], 0.0)); });
    }
    if (options.tolerance) {
      SLIM_ASSIGN(change, engine.Sum([&](VertexId v) { return std::abs(rank[v] - before[v]); }));
    }
    ++ranks.iterations;
  }
  return ranks;
}

}  // namespace slimgraph
