#include "dgemini/programs.h"

#include <algorithm>
#include <type_traits>

#include "dgemini/internal/forest.h"

namespace slimgraph::dgemini {
namespace {

struct ComponentsStep {
  using Value = VertexId;

  Forest& forest;

  VertexId Initial(VertexId v) const { return v; }
  VertexId Signal(VertexId v) { return forest.Root(v); }
  void Slot(VertexId v, VertexId root) { forest.Join(v, root); }
};

}  // namespace

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed) {
  VertexArray<VertexId> parent(engine.vertices());
  engine.ForAll([&](VertexId v) { parent[v] = v; });
  Forest forest(parent);
  // Afforest (Sutton, Ben-Nun, Barak 2018): two edges of each vertex join most of the largest
  // component. Its vertices need not walk their other edges: vertices outside it walk theirs, which
  // include all edges that lead into it. This needs all lists on one node, because several nodes
  // cannot agree on the largest component so cheaply.
  const auto any = [](VertexId) { return std::true_type(); };
  if (directed || !engine.alone() || engine.may_reduce()) {
    const auto walk = [&](VertexId u, const Neighbours& out) {
      const auto end =
          directed ? out.ids.end() : std::lower_bound(out.ids.begin(), out.ids.end(), u);
      forest.JoinAll(u, {out.ids.begin(), end});
    };
    SLIM_TRY(engine.JoinComponents(walk, [&](VertexId v, VertexId root) { forest.Join(v, root); }));
  } else {
    SLIM_TRY(engine.ForEachList(any, [&](VertexId u, const Neighbours& out) {
      forest.JoinAll(u, out.ids.first(std::min<std::size_t>(2, out.ids.size())));
    }));
    const VertexId most = forest.MostCommonRoot();
    SLIM_TRY(
        engine.ForEachList([&](VertexId u) { return forest.Root(u) != forest.Root(most); },
                           [&](VertexId u, const Neighbours& out) { forest.JoinAll(u, out.ids); }));
  }
  ComponentsStep step{forest};
  SLIM_TRY(engine.Agree(step));
  engine.ForEach([&](VertexId v) { Store(parent[v], forest.Root(v)); });
  return parent;
}

}  // namespace slimgraph::dgemini
