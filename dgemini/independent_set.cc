// A maximal independent set: the one that a greedy pass over the vertices in a random order finds,
// by rounds in which all vertices decide that the order lets decide (Blelloch, Fineman and Shun
// 2012). So the set depends on the seed and the graph alone, not on nodes or threads.
#include <xxhash.h>

#include <utility>

#include "dgemini/internal/leaving.h"
#include "dgemini/programs.h"

namespace slimgraph::dgemini {
namespace {

constexpr std::uint8_t kUndecided = 0;
constexpr std::uint8_t kMember = 1;
constexpr std::uint8_t kCovered = 2;  // a neighbour is a member

// A vertex is covered if a neighbour is a member, and a member if all neighbours before it in the
// order are covered.
struct IndependentSetStep {
  using Value = std::uint8_t;

  const VertexArray<std::uint32_t>& place;  // in the order; equal places are ordered by id
  const OriginalIds& ids;
  VertexArray<std::uint8_t>& state;  // as of the last round
  VertexArray<std::uint8_t> next;

  bool Before(VertexId u, VertexId v) const {
    return place[u] != place[v] ? place[u] < place[v] : ids[u] < ids[v];
  }

  bool Wants(VertexId v) const { return state[v] == kUndecided; }
  bool Pull(VertexId v, const Neighbours& list) {
    bool waits = false;
    for (const VertexId u : list.ids) {
      if (state[u] == kMember) {
        next[v] = kCovered;
        return true;
      }
      waits |= state[u] == kUndecided && Before(u, v);
    }
    if (waits) return false;
    next[v] = kMember;
    return true;
  }
  std::uint8_t Signal(VertexId v) const { return state[v]; }
  void Mirror(VertexId v, std::uint8_t value) { state[v] = value; }
};

}  // namespace

std::uint32_t PlaceInOrder(std::uint64_t id, std::uint64_t seed) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(&id, sizeof id, seed));
}

WorkloadNeeds IndependentSetNeeds() {
  return {.pull_in = true, .vertex_bytes = 5.25, .share_bytes = 1};
}

Result<VertexArray<std::uint8_t>> IndependentSet(Engine& engine, const OriginalIds& ids,
                                                 std::uint64_t seed) {
  VertexArray<std::uint32_t> place(engine.vertices());
  engine.ForAll([&](VertexId v) { place[v] = PlaceInOrder(ids[v], seed); });
  auto state = engine.Values(kUndecided);
  IndependentSetStep step{place, ids, state, engine.ShareValues<std::uint8_t>()};
  Frontier decided(engine.vertices());
  Frontier following(engine.vertices());
  SLIM_ASSIGN(const bool resumed, Resume(engine, state, decided));
  // All nodes know the first states, so the first round sends none.
  if (!resumed) decided.SetActive({engine.vertices(), engine.arcs()});
  while (!decided.empty()) {
    SLIM_ASSIGN(const bool left, Leave(engine, state, decided));
    if (left) break;
    SLIM_TRY(engine.AdvanceByPull(decided, step, following));
    engine.ForEach([&](VertexId v) {
      if (state[v] == kUndecided) state[v] = step.next[v];
    });
    std::swap(decided, following);
  }
  engine.ForEach([&](VertexId v) { state[v] = state[v] == kMember ? 1 : 0; });
  return state;
}

}  // namespace slimgraph::dgemini
