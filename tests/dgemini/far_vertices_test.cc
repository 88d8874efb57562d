#include "dgemini/far_vertices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

namespace slimgraph {
namespace {

// Vertices are kept by any thread at distances up to some 14,000 buckets away, and come nearer
// while others have their turn, as they do in a search.
TEST(FarVertices, HaveTheirTurnInTheBucketOfTheirLastDistance) {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr VertexId kVertices = 2000;
  constexpr std::uint32_t kWidth = 7;
  constexpr std::uint32_t kThreads = 3;
  VertexArray<std::uint32_t> distance(kVertices);
  FarVertices<std::uint32_t> far(distance, kWidth, kThreads);
  std::set<VertexId> waiting;
  // Now and then without word of the distance before, as where a message has brought the new one.
  const auto keep = [&](VertexId v, auto... before) {
    const auto thread = static_cast<std::uint32_t>(random() % kThreads);
    if (random() % 4 == 0 ? far.Keep(thread, v) : far.Keep(thread, v, before...)) {
      waiting.insert(v);
    }
  };
  for (VertexId v = 0; v < kVertices; ++v) {
    distance[v] = static_cast<std::uint32_t>(random() % (v % 2 == 0 ? 1000 : 100'000));
    keep(v);
  }
  std::uint64_t last = 0;
  for (std::uint64_t bucket = far.Next(); bucket != far.kNone; bucket = far.Next()) {
    ASSERT_GT(bucket, last);
    last = bucket;
    far.Turn(bucket);
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      VertexList list;
      far.Take(t, list);
      for (const VertexId v : list) {
        if (far.Passed(distance[v])) continue;
        ASSERT_EQ(distance[v] / kWidth, bucket);
        waiting.erase(v);
      }
    }
    const auto lower = static_cast<VertexId>(random() % kVertices);
    const auto end = static_cast<std::uint32_t>((bucket + 1) * kWidth);
    if (!waiting.contains(lower) || distance[lower] <= end) continue;
    // Far away or within the same bucket.
    const std::uint32_t before = distance[lower];
    const std::uint32_t least = random() % 2 == 0 ? end : std::max(end, before / kWidth * kWidth);
    distance[lower] = least + static_cast<std::uint32_t>(random() % (before - least + 1));
    keep(lower, before);
  }
  EXPECT_TRUE(waiting.empty());
}

}  // namespace
}  // namespace slimgraph
