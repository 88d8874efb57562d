#include "dgemini/components.h"

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
  void Join(VertexId u, VertexId v) {
    VertexId a = Load(parent[u]);
    VertexId b = Load(parent[v]);
    while (a != b) {
      if (a < b) std::swap(a, b);
      if (ChangeFrom(parent[a], a, b)) return;
      a = Root(a);
      b = Root(b);
    }
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
  SLIM_TRY(engine.ForEachList([&](VertexId u, const Neighbours& out) {
    for (const VertexId v : out.ids) {
      // An edge without direction is in the list of its larger end as well.
      if (!directed && v >= u) break;
      step.Join(u, v);
    }
  }));
  SLIM_TRY(engine.Agree(step));
  engine.ForEach([&](VertexId v) { Store(parent[v], step.Root(v)); });
  return parent;
}

}  // namespace slimgraph
