#include "dgemini/pagerank.h"

#include <cmath>
#include <utility>

#include "dgemini/atomics.h"

namespace slimgraph {
namespace {

struct Step {
  using Value = double;
  static constexpr std::uint64_t kPullAbove = 1;

  VertexArray<double>& given;     // by each vertex along each of its edges
  VertexArray<double>& received;  // zero between steps

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
    double sum = 0;
    for (const VertexId u : in.ids) sum += given[u];
    received[v] = sum;
    return false;
  }
  double Signal(VertexId u) const { return given[u]; }
  void Mirror(VertexId u, double value) { given[u] = value; }
};

}  // namespace

Result<PageRanks> PageRank(Engine& engine, const PageRankOptions& options) {
  const double n = engine.vertices();
  SLIM_ASSIGN(const auto degree, engine.Degrees());
  PageRanks ranks{engine.Values(1 / n), 0};
  auto& rank = ranks.rank;
  auto given = engine.Values(0.0);
  auto received = engine.Values(0.0);
  Frontier all(engine.vertices());
  Frontier out(engine.vertices());
  engine.ActivateAll(all);
  Step step{given, received};
  const auto give = [&](VertexId v) {
    if (degree[v] == 0) return rank[v];
    given[v] = rank[v] / degree[v];
    return 0.0;
  };
  SLIM_ASSIGN(double dangling, engine.Sum(give));
  double change = INFINITY;
  while (options.tolerance ? change > *options.tolerance : ranks.iterations < options.iterations) {
    SLIM_TRY(engine.Advance(all, step, out));
    const double base = (1 - options.damping + options.damping * dangling) / n;
    const auto take = [&](VertexId v) {
      return base + options.damping * std::exchange(received[v], 0.0);
    };
    if (options.tolerance) {
      SLIM_ASSIGN(change, engine.Sum([&](VertexId v) {
        const double old_rank = std::exchange(rank[v], take(v));
        return std::abs(rank[v] - old_rank);
      }));
      SLIM_ASSIGN(dangling, engine.Sum(give));
    } else {
      SLIM_ASSIGN(dangling, engine.Sum([&](VertexId v) {
        rank[v] = take(v);
        return give(v);
      }));
    }
    ++ranks.iterations;
  }
  return ranks;
}

}  // namespace slimgraph
