#include "dgemini/programs.h"

#include <type_traits>

#include "dgemini/internal/atomics.h"
#include "dgemini/internal/bucket_walk.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/internal/prefetch.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

template <typename Weight, typename Distance>
struct SsspStep {
  using Value = Distance;
  using Reduction = LeastDistance<Weight, Distance>;
  static constexpr std::uint64_t kPullAbove = 1;
  static constexpr bool kPushesAgain = true;
  VertexArray<Distance>& distance;
  const Frontier* in;
  DistanceBuckets<Distance>& buckets;

  void Push(VertexId u, const Neighbours& out, auto activate) {
    const Distance so_far = LoadSeqCst(distance[u]);
    if (buckets.IsPast(so_far)) return;
    ForEachPrefetched(distance, out, [&](std::size_t i, VertexId v) {
      Distance before;
      if (Lower(distance[v], Reduction::Along(so_far, out, i), before)) activate(v, before);
    });
  }
  const void* At(VertexId v) const { return &distance[v]; }
  Distance Partial(VertexId v) const { return distance[v]; }
  bool Slot(VertexId v, Distance other) { return Lower(distance[v], other); }
  std::true_type Wants(VertexId) const { return {}; }
  bool Pull(VertexId v, const Neighbours& list) {
    Distance least = distance[v];
    for (std::size_t i = 0; i < list.ids.size(); ++i) {
      const VertexId u = list.ids[i];
      if (in->Has(u)) least = std::min(least, Reduction::Along(Load(distance[u]), list, i));
    }
    return Finish(v, least);
  }
  bool Finish(VertexId v, Distance least) {
    if (!(least < distance[v])) return false;
    Store(distance[v], least);
    return true;
  }
  Distance Signal(VertexId u) const { return distance[u]; }
  void Mirror(VertexId u, Distance value) { distance[u] = value; }
  bool Defers(std::uint32_t thread, auto... vertex) { return buckets.Defer(thread, vertex...); }
};

}  // namespace

template <typename Weight, typename Distance>
Result<VertexArray<Distance>> Sssp(Engine& engine, VertexId source, Distance delta) {
  auto distance = engine.Values(kUnreachable<Distance>);
  Frontier in(engine.vertices());
  Frontier out(engine.vertices());
  DistanceBuckets buckets(distance, delta, engine.threads());
  std::uint64_t bucket = 0;
  SLIM_ASSIGN(const bool resumed, Resume(engine, distance, in, bucket));
  if (resumed) {
    FillBuckets(engine, distance, bucket, buckets);
  } else {
    distance[source] = 0;
    SLIM_TRY(engine.Activate(in, std::span(&source, 1)));
  }
  SsspStep<Weight, Distance> step{distance, &in, buckets};
  const auto stays = [&]() -> Result<bool> {
    SLIM_ASSIGN(const bool left, Leave(engine, distance, in, bucket));
    return !left;
  };
  SLIM_TRY(WalkBuckets(engine, in, step, out, buckets, bucket, stays));
  return distance;
}

template Result<VertexArray<std::uint32_t>> Sssp<std::int32_t>(Engine&, VertexId, std::uint32_t);
template Result<VertexArray<std::uint64_t>> Sssp<std::int32_t>(Engine&, VertexId, std::uint64_t);
template Result<VertexArray<std::uint64_t>> Sssp<std::int64_t>(Engine&, VertexId, std::uint64_t);
template Result<VertexArray<double>> Sssp<float>(Engine&, VertexId, double);
template Result<VertexArray<double>> Sssp<double>(Engine&, VertexId, double);

}  // namespace slimgraph::dgemini
