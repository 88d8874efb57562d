#include "dgemini/programs.h"

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

struct BfsStep {
  using Value = Nothing;
  using Reduction = AnyActive;
  static constexpr std::uint64_t kPullAbove = 20;
  static constexpr bool kActivatesOnce = true;

  VertexArray<std::uint32_t>& depth;
  const Frontier* in;
  std::uint32_t level;  // the depth of the vertices that this step reaches
  std::uint64_t left;   // arcs of vertices that are not reached yet

  template <typename Activate>
  void Push(VertexId, const Neighbours& out, Activate activate) {
    ForEachPrefetched(depth, out, [&](std::size_t, VertexId v) {
      if (ChangeFrom(depth[v], kUnreached, level)) activate(v);
    });
  }
  const void* At(VertexId v) const { return &depth[v]; }
  Nothing Partial(VertexId) { return {}; }
  bool Slot(VertexId v, Nothing) { return ChangeFrom(depth[v], kUnreached, level); }

  bool Wants(VertexId v) const { return depth[v] == kUnreached; }
  bool Pull(VertexId v, const Neighbours& list) {
    for (const VertexId u : list.ids) {
      if (in->Has(u)) return Finish(v, {});
    }
    return false;
  }
  bool Finish(VertexId v, Nothing) {
    depth[v] = level;
    return true;
  }
  Nothing Signal(VertexId) { return {}; }
  void Mirror(VertexId, Nothing) {}
};

}  // namespace

Result<VertexArray<std::uint32_t>> Bfs(Engine& engine, VertexId source, std::uint64_t most_depth) {
  auto depth = engine.Values(kUnreached);
  Frontier in(engine.vertices());
  Frontier out(engine.vertices());
  BfsStep step{depth, &in, 1, engine.arcs()};
  SLIM_ASSIGN(const bool resumed, Resume(engine, depth, in, step.level, step.left));
  if (!resumed) {
    depth[source] = 0;
    SLIM_TRY(engine.Activate(in, std::span(&source, 1)));
  }
  for (; !in.empty() && step.level <= most_depth; ++step.level) {
    SLIM_ASSIGN(const bool left, Leave(engine, depth, in, step.level, step.left));
    if (left) break;
    SLIM_TRY(engine.Advance(in, step, out));
    std::swap(in, out);
  }
  return depth;
}

}  // namespace slimgraph::dgemini
