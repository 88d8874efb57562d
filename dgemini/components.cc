#include "dgemini/programs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "dgemini/engine.h"
#include "dgemini/internal/caching_scope.h"
#include "dgemini/internal/forest.h"
#include "dgemini/internal/leaving.h"

namespace slimgraph::dgemini {
namespace {

// Joins components on every node, by the lists of its share, until all nodes agree.
//
// The nodes choose one vertex, the hub, of the component that seems the largest. A vertex that has
// been joined with the hub needs no further edges, because those that have not been joined walk all
// of theirs, which include the edges between both (Afforest: Sutton, Ben-Nun, Barak 2018). And one
// bit tells the nodes that a vertex is of the hub's component.
class JoiningComponents {
 public:
  JoiningComponents(Engine& engine, VertexArray<VertexId>& parent)
      : engine_(engine), parent_(parent), forest_(parent), walked_(engine.vertices()) {}

  // Whether other compute nodes have walked a sample of the edges.
  Result<bool> ResumeAfterSample() { return Resume(engine_, parent_, walked_); }
  // Walks what these have not.
  Status WalkRest() {
    SLIM_TRY(ChooseHub());
    return engine_.ForEachList(
        [&](VertexId u) { return !walked_.Has(u) && Apart(u); },
        [&](VertexId u, const Neighbours& out) { forest_.JoinAll(u, out.ids); });
  }

  // Memory nodes may walk their own lists. In a directed graph an edge is in one list only, so all
  // lists are walked.
  Status WalkAll(bool directed) {
    const auto walk = [&](VertexId u, const Neighbours& out) {
      const auto end =
          directed ? out.ids.end() : std::lower_bound(out.ids.begin(), out.ids.end(), u);
      forest_.JoinAll(u, {out.ids.begin(), end});
    };
    SLIM_TRY(
        engine_.JoinComponents(walk, [&](VertexId v, VertexId root) { forest_.Join(v, root); }));
    return ChooseHub();
  }

  // Walks a sample of the edges, chooses the hub, and walks what else is needed. Returns whether
  // the program has been left before the end.
  Result<bool> WalkSampleFirst() {
    SLIM_TRY(Leave(engine_).map([](bool) {}));  // the first step: there is nothing to leave yet
    const auto any = [](VertexId) { return std::true_type(); };
    const auto apart = [&](VertexId u) { return Apart(u); };
    const auto walk = [&](VertexId u, const Neighbours& out) { forest_.JoinAll(u, out.ids); };
    const auto none = [](VertexId) { return false; };
    if (!engine_.has_remote_lists()) {
      constexpr std::size_t kFirst = 2;
      SLIM_TRY(engine_.ForEachList(any, [&](VertexId u, const Neighbours& out) {
        forest_.JoinAll(u, out.ids.first(std::min(kFirst, out.ids.size())));
      }));
      SLIM_ASSIGN(const bool left, LeaveAfter(none));
      if (!left) SLIM_TRY(engine_.ForEachList(apart, walk));
      return left;
    }
    const auto sampled = [&](VertexId u) {
      constexpr VertexId kRun = 1024;
      constexpr VertexId kEvery = 8;
      return engine_.has_own_lists() ? engine_.has_own_list(u) : u / kRun % kEvery == 0;
    };
    SLIM_TRY(engine_.ForEachList(sampled, walk));
    SLIM_ASSIGN(const bool left, LeaveAfter(sampled));
    if (left) return true;
    SLIM_TRY(engine_.ForEachList([&](VertexId u) { return !sampled(u) && Apart(u); }, walk));
    return false;
  }

  Status Agree();

 private:
  struct Step {
    using Value = VertexId;

    // A vertex of the hub's component has the hub as its value, because the component's smallest
    // vertex may still change.
    VertexId Signal(VertexId v) {
      const VertexId root = forest.Root(v);
      return root == forest.Root(hub) ? hub : root;
    }
    VertexId Initial(VertexId v) const { return v; }
    std::uint64_t Agreed(std::size_t word) const { return with_hub.word(word); }
    void Slot(VertexId v, VertexId root) { forest.Join(v, root); }

    Forest& forest;
    const Frontier& with_hub;
    VertexId hub;
  };

  Status ChooseHub();
  bool Apart(VertexId u) { return forest_.Root(u) != forest_.Root(hub_); }
  // Chooses the hub. Then the program may be left; the whole lists of the vertices with walked(u)
  // have been walked.
  Result<bool> LeaveAfter(auto walked) {
    SLIM_TRY(ChooseHub());
    const auto complete = [&]() -> Status {
      walked_.SetHasList(false);
      engine_.AddChosen(walked_, walked);
      return Agree();
    };
    return Leave(engine_, Prepared{parent_, complete}, walked_);
  }

  Engine& engine_;
  VertexArray<VertexId>& parent_;
  Forest forest_;
  Frontier walked_;  // vertices whose lists have been walked by those who left the program
  VertexId hub_ = 0;
};

// The nodes vote by a sample of their vertices. Whoever has found the hub then names vertices of
// its component, most of them with small ids, because these begin many lists: other nodes have
// joined some of them with most of their own vertices.
Status JoiningComponents::ChooseHub() {
  constexpr VertexId kSample = 4096;
  const std::uint64_t vertices = engine_.vertices();
  if (vertices == 0) return {};
  const auto [most, votes] =
      forest_.MostCommonRoot(kSample, [&](VertexId v) { return engine_.mine(v); });
  std::array<std::uint64_t, 1> best = {std::uint64_t{votes} << 32 | most};
  const auto greater = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  SLIM_TRY(engine_.Reduce(std::span(best), greater));
  hub_ = static_cast<VertexId>(best[0]);
  if (engine_.alone()) return {};
  std::array<std::uint64_t, 8> named{};  // one more than a vertex
  if (most == hub_) {
    std::size_t found = 0;
    const auto name = [&](std::uint64_t every, std::size_t at_most) {
      for (std::uint64_t v = 0; v < std::min(vertices, kSample * every); v += every) {
        if (found == at_most) return;
        if (forest_.Root(static_cast<VertexId>(v)) == hub_) named[found++] = v + 1;
      }
    };
    name(1, 6);
    name(std::max<std::uint64_t>(vertices / kSample, 1), named.size());
  }
  SLIM_TRY(engine_.Reduce(std::span(named), greater));
  for (const std::uint64_t one : named) {
    if (one > 0) forest_.Join(static_cast<VertexId>(one - 1), hub_);
  }
  return {};
}

Status JoiningComponents::Agree() {
  if (!engine_.alone() && engine_.vertices() > 0) {
    Frontier with_hub(engine_.vertices());
    const VertexId root = forest_.Root(hub_);  // stays, as nothing is being joined
    engine_.AddChosen(with_hub, [&](VertexId v) { return forest_.Root(v) == root; });
    SLIM_TRY(engine_.SendFrontier(with_hub));
    engine_.ForAllIn(with_hub,
                     [&](std::span<const VertexId> some) { forest_.JoinAll(hub_, some); });
    Step step{forest_, with_hub, hub_};
    SLIM_TRY(engine_.Agree(step));
    std::array<std::uint64_t, 1> least = {forest_.Root(hub_)};
    SLIM_TRY(engine_.Reduce(std::span(least),
                            [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }));
    forest_.Join(hub_, static_cast<VertexId>(least[0]));
  }
  engine_.ForEach([&](VertexId v) { Store(parent_[v], forest_.Root(v)); });
  return {};
}

}  // namespace

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed) {
  const CachingScope caching(engine, Admission::kNever);  // each list is read once at most
  VertexArray<VertexId> parent(engine.vertices());
  JoiningComponents joining(engine, parent);
  SLIM_ASSIGN(const bool resumed, joining.ResumeAfterSample());
  if (resumed) {
    SLIM_TRY(joining.WalkRest());
  } else {
    engine.ForAll([&](VertexId v) { parent[v] = v; });
    if (directed || engine.may_reduce()) {
      SLIM_TRY(joining.WalkAll(directed));
    } else {
      SLIM_ASSIGN(const bool left, joining.WalkSampleFirst());
      if (left) return parent;
    }
  }
  SLIM_TRY(joining.Agree());
  return parent;
}

}  // namespace slimgraph::dgemini
