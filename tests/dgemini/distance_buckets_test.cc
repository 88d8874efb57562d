#include "dgemini/internal/distance_buckets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

namespace slimgraph::dgemini {
namespace {

// Random threads keep vertices at distances up to about 14,000 buckets away. Their distances
// decrease while other buckets are processed, as in a search.
TEST(DistanceBuckets, ReturnEachVertexInTheBucketOfItsCurrentDistance) {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr VertexId kVertices = 2000;
  constexpr std::uint32_t kWidth = 7;
  constexpr std::uint32_t kThreads = 3;
  VertexArray<std::uint32_t> distance(kVertices);
  DistanceBuckets<std::uint32_t> buckets(distance, kWidth, kThreads);
  std::set<VertexId> waiting;
  // Sometimes without the previous distance, as when a message brings the new one.
  const auto keep = [&](VertexId v, auto... before) {
    const auto thread = static_cast<std::uint32_t>(random() % kThreads);
    if (random() % 4 == 0 ? buckets.Defer(thread, v) : buckets.Defer(thread, v, before...)) {
      waiting.insert(v);
    }
  };
  for (VertexId v = 0; v < kVertices; ++v) {
    distance[v] = static_cast<std::uint32_t>(random() % (v % 2 == 0 ? 1000 : 100'000));
    keep(v);
  }
  std::uint64_t last = 0;
  for (std::uint64_t bucket = buckets.NextBucket(); bucket != buckets.kNone;
       bucket = buckets.NextBucket()) {
    ASSERT_GT(bucket, last);
    last = bucket;
    buckets.SetCurrent(bucket);
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      VertexList list;
      buckets.TakeCurrent(t, list);
      for (const VertexId v : list) {
        if (buckets.IsPast(distance[v])) continue;
        ASSERT_EQ(distance[v] / kWidth, bucket);
        waiting.erase(v);
      }
    }
    const auto lower = static_cast<VertexId>(random() % kVertices);
    const auto end = static_cast<std::uint32_t>((bucket + 1) * kWidth);
    if (!waiting.contains(lower) || distance[lower] <= end) continue;
    // The new distance is anywhere below the old one, or in the same bucket.
    const std::uint32_t before = distance[lower];
    const std::uint32_t least = random() % 2 == 0 ? end : std::max(end, before / kWidth * kWidth);
    distance[lower] = least + static_cast<std::uint32_t>(random() % (before - least + 1));
    keep(lower, before);
  }
  EXPECT_TRUE(waiting.empty());
}

}  // namespace
}  // namespace slimgraph::dgemini
