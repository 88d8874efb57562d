// The core number of each vertex, by peeling: level by level, vertices with no more neighbours left
// than the level are removed (Matula and Beck 1983).
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/programs.h"

namespace slimgraph::dgemini {
namespace {

// Calls visit(u) for the different neighbours of v other than v itself. Unless `kSimple`, the list
// may have equal neighbours, which are adjacent, and v itself.
template <bool kSimple, typename Visit>
void ForEachDifferent(VertexId v, const Neighbours& list, Visit visit) {
  for (std::size_t i = 0; i < list.ids.size(); ++i) {
    const VertexId u = list.ids[i];
    if (!kSimple && (u == v || (i > 0 && u == list.ids[i - 1]))) continue;
    visit(u);
  }
}

// `left` of a vertex of the share is its number of neighbours that are not removed, but not less
// than the level in which the vertex itself was removed. Of other vertices it is kOthers less the
// number of their neighbours that this node has removed in the current step.
template <bool kSimple>
struct PeelStep {
  using Value = std::uint32_t;
  using Short = std::uint8_t;  // a pull only sends which vertices are active
  static constexpr std::uint64_t kPullAbove = 1;
  static constexpr std::uint32_t kOthers = std::numeric_limits<std::uint32_t>::max();

  VertexArray<std::uint32_t>& neighbours;
  const Frontier* in;
  std::uint64_t left;  // arcs of vertices that are not removed
  std::uint32_t level = 0;

  template <typename Activate>
  void Push(VertexId u, const Neighbours& out, Activate activate) {
    ForEachDifferent<kSimple>(u, out, [&](VertexId v) {
      std::uint32_t before = Load(neighbours[v]);
      const std::atomic_ref<std::uint32_t> count(neighbours[v]);
      while (before > level) {
        if (!count.compare_exchange_weak(before, before - 1, std::memory_order_relaxed)) continue;
        if (before == level + 1 || before > kOthers / 2) activate(v);
        return;
      }
    });
  }
  std::uint32_t Partial(VertexId v) { return kOthers - std::exchange(neighbours[v], kOthers); }
  bool Slot(VertexId v, std::uint32_t removed) {
    if (neighbours[v] <= level) return false;
    neighbours[v] -= std::min(removed, neighbours[v] - level);
    return neighbours[v] == level;
  }

  bool Wants(VertexId v) const { return neighbours[v] > level; }
  bool Pull(VertexId v, const Neighbours& list) {
    std::uint32_t removed = 0;
    ForEachDifferent<kSimple>(v, list, [&](VertexId u) { removed += in->Has(u) ? 1 : 0; });
    return Slot(v, removed);
  }
  std::uint32_t Signal(VertexId) const { return 0; }
  void Mirror(VertexId, std::uint32_t) {}
};

// Where peeling is, between two steps.
struct Peeling {
  Frontier in;
  std::uint32_t level = 0;
  std::uint64_t left = 0;  // as PeelStep's
  std::uint64_t all_removed = 0;
};

template <bool kSimple>
Status Peel(Engine& engine, VertexArray<std::uint32_t>& neighbours, Peeling& peeling,
            bool resumed) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  Frontier& in = peeling.in;
  std::uint32_t& level = peeling.level;
  Frontier out(engine.vertices());
  engine.ActivateAll(out);
  engine.List(out);
  VertexLists rest = out.TakeList();  // vertices of the share that are not removed
  PeelStep<kSimple> step{neighbours, &in, peeling.left};
  for (;; ++level, resumed = false) {
    VertexLists removed;
    std::vector<std::uint64_t> least(engine.threads(), kNone);
    for (std::uint32_t t = 0; t < engine.threads(); ++t) removed.part(t);
    engine.ForEachPart(rest, [&](std::uint32_t t, VertexList& part) {
      std::uint64_t least_here = kNone;
      part.Filter([&](VertexId v, VertexId later) {
        __builtin_prefetch(&neighbours[later]);
        const std::uint32_t left = neighbours[v];
        if (left == level) removed.part(t).push_back(v);
        if (left <= level) return false;
        least_here = std::min<std::uint64_t>(least_here, left);
        return true;
      });
      least[t] = least_here;
    });
    step.level = level;
    // Those who left the program had begun to remove.
    if (!resumed) SLIM_TRY(engine.SetActive(in, std::move(removed)));
    if (in.empty()) {
      std::uint64_t next = *std::min_element(least.begin(), least.end());
      SLIM_TRY(engine.Reduce(std::span(&next, 1), [](auto a, auto b) { return std::min(a, b); }));
      if (next == kNone) return {};
      level = static_cast<std::uint32_t>(next - 1);
      continue;
    }
    while (!in.empty()) {
      OfShare of_share{neighbours};
      SLIM_ASSIGN(const bool left,
                  Leave(engine, of_share, in, level, step.left, peeling.all_removed));
      if (left) return {};
      peeling.all_removed += in.active().vertices;
      engine.job().SetProgress(peeling.all_removed, engine.vertices());
      SLIM_TRY(engine.Advance(in, step, out));
      std::swap(in, out);
    }
  }
}

// For each vertex of the share, how many different neighbours it has.
Status CountNeighbours(Engine& engine, bool simple, VertexArray<std::uint32_t>& neighbours) {
  if (simple) {
    SLIM_ASSIGN(const auto degrees, engine.Degrees());
    engine.ForEach([&](VertexId v) { neighbours[v] = degrees[v]; });
    return {};
  }
  engine.ForEach([&](VertexId v) { neighbours[v] = 0; });
  return engine.ForEachList([](VertexId) { return std::true_type(); },
                            [&](VertexId v, const Neighbours& list) {
                              std::uint32_t count = 0;
                              ForEachDifferent<false>(v, list, [&](VertexId) { ++count; });
                              neighbours[v] = count;
                            });
}

}  // namespace

WorkloadNeeds CoresNeeds(Mode mode) {
  return {.pull_in = mode != Mode::kPush, .vertex_bytes = 4.25, .share_bytes = 12};
}

Result<VertexArray<std::uint32_t>> CoreNumbers(Engine& engine, bool simple) {
  auto neighbours = engine.Values(PeelStep<true>::kOthers);
  Peeling peeling{.in = Frontier(engine.vertices()), .left = engine.arcs()};
  OfShare of_share{neighbours};
  SLIM_ASSIGN(const bool resumed, Resume(engine, of_share, peeling.in, peeling.level, peeling.left,
                                         peeling.all_removed));
  if (!resumed) SLIM_TRY(CountNeighbours(engine, simple, neighbours));
  SLIM_TRY(simple ? Peel<true>(engine, neighbours, peeling, resumed)
                  : Peel<false>(engine, neighbours, peeling, resumed));
  return neighbours;
}

}  // namespace slimgraph::dgemini
