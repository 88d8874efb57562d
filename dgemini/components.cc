#include "dgemini/components.h"

#include <algorithm>
#include <map>

#include "dgemini/atomics.h"

namespace slimgraph {
namespace {

// Trees whose roots are the smallest of all that is known to hang together.
struct Step {
  using Value = VertexId;

  VertexArray<VertexId>& parent;

  VertexId Root(VertexId v) {
    VertexId above = Load(parent[v]);
    while (true) {
      const VertexId next = Load(parent[above]);
      if (next == above) return above;
      Store(parent[v], next);  // halves the way for those who come after
      v = above;
      above = next;
    }
  }
  void Join(VertexId a, VertexId b) {
    while (a != b) {
      if (a < b) std::swap(a, b);
      if (ChangeFrom(parent[a], a, b)) return;
      a = Root(a);
      b = Root(b);
    }
  }
  void JoinAll(VertexId u, std::span<const VertexId> ids) {
    VertexId root = Root(u);
    for (const VertexId v : ids) {
      const VertexId above = Load(parent[v]);
      if (above == root) continue;
      Join(root, above);
      root = Root(u);
    }
  }

  // Of a sample.
  VertexId MostCommonRoot() {
    constexpr std::size_t kSample = 1024;
    std::map<VertexId, int> counts;
    VertexId most = 0;
    for (std::size_t i = 0; i < kSample && parent.size() > 0; ++i) {
      const VertexId root = Root(static_cast<VertexId>(i * parent.size() / kSample));
      if (++counts[root] > counts[most]) most = root;
    }
    return most;
  }

  VertexId Initial(VertexId v) const { return v; }
  VertexId Signal(VertexId v) { return Root(v); }
  void Slot(VertexId v, VertexId root) { Join(v, root); }
};

}  // namespace

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed) {
  VertexArray<VertexId> parent(engine.vertices());
  engine.ForAll([&](VertexId v) { parent[v] = v; });
  Step step{parent};
  // Sutton, Ben-Nun, Barak 2018 (Afforest): two edges of each vertex join most of what hangs
  // together. Whoever belongs to that need not look at its other edges, for those who do not belong
  // to it will look at theirs. Nodes that see parts of it each cannot agree on it so cheaply.
  const auto any = [](VertexId) { return true; };
  if (directed || !engine.alone()) {
    SLIM_TRY(engine.ForEachList(any, [&](VertexId u, const Neighbours& out) {
      const auto end =
          directed ? out.ids.end() : std::lower_bound(out.ids.begin(), out.ids.end(), u);
      step.JoinAll(u, {out.ids.begin(), end});
    }));
  } else {
    SLIM_TRY(engine.ForEachList(any, [&](VertexId u, const Neighbours& out) {
      step.JoinAll(u, out.ids.first(std::min<std::size_t>(2, out.ids.size())));
    }));
    const VertexId most = step.MostCommonRoot();
    SLIM_TRY(
        engine.ForEachList([&](VertexId u) { return step.Root(u) != step.Root(most); },
                           [&](VertexId u, const Neighbours& out) { step.JoinAll(u, out.ids); }));
  }
  SLIM_TRY(engine.Agree(step));
  engine.ForEach([&](VertexId v) { Store(parent[v], step.Root(v)); });
  return parent;
}

}  // namespace slimgraph
