// How a program steps through the buckets of distances.
//
// Where steps have few edges, as in a grid, a step costs more than what is searched in it. On
// several nodes, wider buckets then help: in a step, each node goes on from what it finds, up to
// the end of the bucket, and lowers the distances of what others have found by longer ways.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "dgemini/engine.h"
#include "dgemini/internal/distance_buckets.h"

namespace slimgraph::dgemini {

constexpr std::uint32_t kManySmallSteps = 32;
inline bool IsSmallStep(const Engine& engine, const Frontier& in) {
  constexpr std::uint64_t kShareOfArcs = 64;
  return in.active().edges < engine.arcs() / kShareOfArcs;
}
// Whether wider buckets may help, if steps are small.
inline bool HasCostlySteps(const Engine& engine) {
  return !engine.alone() && engine.mode() != Mode::kPull;
}

// Makes `current` the current bucket, and defers all vertices of the share in later ones.
template <typename Distance>
void FillBuckets(Engine& engine, const VertexArray<Distance>& distance, std::uint64_t current,
                 DistanceBuckets<Distance>& buckets) {
  buckets.SetCurrent(current);
  engine.ForEachByThread([&](std::uint32_t thread, VertexId v) {
    if (distance[v] != std::numeric_limits<Distance>::max()) buckets.Defer(thread, v);
  });
}

// Makes steps from `in` until no bucket has vertices, or until goes_on(), before a step, returns
// false. `bucket` is the current one. Returns whether no bucket has vertices. Collective over
// compute nodes.
template <typename Step, typename Distance, typename GoesOn>
Result<bool> WalkBuckets(Engine& engine, Frontier& in, Step& step, Frontier& out,
                         DistanceBuckets<Distance>& buckets, std::uint64_t& bucket,
                         GoesOn goes_on) {
  while (true) {
    for (; !in.empty(); std::swap(in, out)) {
      SLIM_ASSIGN(const bool on, goes_on());
      if (!on) return false;
      if constexpr (VertexStep<Step>) {
        SLIM_TRY(engine.Advance(in, step, out));
      } else {
        SLIM_TRY(engine.AdvanceByPush(in, step, out));
      }
    }
    bucket = buckets.NextBucket();
    SLIM_TRY(engine.Reduce(std::span(&bucket, 1), [](auto a, auto b) { return std::min(a, b); }));
    if (bucket == buckets.kNone) return true;
    buckets.SetCurrent(bucket);
    SLIM_TRY(engine.Refill(in, buckets));
  }
}

}  // namespace slimgraph::dgemini
