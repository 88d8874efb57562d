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
    // A copy of `out`, which stays in registers.
    ForEachPrefetched(distance, out, [&, out](std::size_t i, VertexId v, Distance& at) {
      Distance before;
      if (Lower(at, Reduction::Along(so_far, out, i), before)) activate(v, before);
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

constexpr std::uint32_t kWidening = 4;  // a power of two, so that divisions are exact

// Makes buckets wider or narrower in the middle of the bucket `bucket`. Sets it to the current
// bucket of the other width, and `in` to all vertices there that may still have to be pushed. Those
// in later buckets are not deferred yet.
template <typename Distance>
Status ChangeWidth(Engine& engine, const VertexArray<Distance>& distance, Frontier& in,
                   std::uint64_t& bucket, Distance& width, Distance to) {
  using Buckets = DistanceBuckets<Distance>;
  const std::uint64_t first = bucket;
  const std::uint64_t current = to > width ? first / static_cast<std::uint64_t>(to / width)
                                           : first * static_cast<std::uint64_t>(width / to);
  SLIM_TRY(engine.Choose(in, [&](VertexId v) {
    const Distance at = distance[v];
    return at != kUnreachable<Distance> && Buckets::BucketOf(at, width) >= first &&
           Buckets::BucketOf(at, to) <= current;
  }));
  bucket = current;
  width = to;
  return {};
}

}  // namespace

template <typename Weight, typename Distance>
Result<VertexArray<Distance>> Sssp(Engine& engine, VertexId source, Distance delta,
                                   Distance widest) {
  auto distance = engine.Values(kUnreachable<Distance>);
  Frontier in(engine.vertices());
  Frontier out(engine.vertices());
  std::uint64_t bucket = 0;
  Distance width = delta;
  std::uint32_t small = 0;  // how many small steps in turn
  SLIM_ASSIGN(const bool resumed, Resume(engine, distance, in, bucket, width, small));
  if (!resumed) {
    distance[source] = 0;
    SLIM_TRY(engine.Activate(in, std::span(&source, 1)));
  }
  while (true) {
    DistanceBuckets buckets(distance, width, engine.threads());
    FillBuckets(engine, distance, bucket, buckets);
    SsspStep<Weight, Distance> step{distance, &in, buckets};
    Distance other_width = width;
    bool left = false;
    const auto goes_on = [&]() -> Result<bool> {
      const bool is_small = IsSmallStep(engine, in);
      small = is_small && HasCostlySteps(engine) ? small + 1 : 0;
      if (small > kManySmallSteps && width <= widest / kWidening) other_width = width * kWidening;
      if (!is_small && width > delta) other_width = delta;
      if (other_width != width) return false;
      SLIM_ASSIGN(left, Leave(engine, distance, in, bucket, width, small));
      return !left;
    };
    SLIM_ASSIGN(const bool all, WalkBuckets(engine, in, step, out, buckets, bucket, goes_on));
    if (all || left) return distance;
    SLIM_TRY(ChangeWidth(engine, distance, in, bucket, width, other_width));
    small = 0;
  }
}

template Result<VertexArray<std::uint32_t>> Sssp<std::int32_t>(Engine&, VertexId, std::uint32_t,
                                                               std::uint32_t);
template Result<VertexArray<std::uint64_t>> Sssp<std::int32_t>(Engine&, VertexId, std::uint64_t,
                                                               std::uint64_t);
template Result<VertexArray<std::uint64_t>> Sssp<std::int64_t>(Engine&, VertexId, std::uint64_t,
                                                               std::uint64_t);
template Result<VertexArray<double>> Sssp<float>(Engine&, VertexId, double, double);
template Result<VertexArray<double>> Sssp<double>(Engine&, VertexId, double, double);

}  // namespace slimgraph::dgemini
