#include "dgemini/internal/prefetch.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace slimgraph::dgemini {
namespace {

TEST(Prefetch, VisitsEachNeighbourOnceInOrderWhateverFollows) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  constexpr VertexId kVertices = 1000;
  VertexArray<double> values(kVertices);
  for (VertexId v = 0; v < kVertices; ++v) values[v] = v;
  for (const std::size_t most : {std::size_t{3}, kPrefetchDistance + 1, 3 * kFarPrefetchDistance}) {
    std::vector<VertexId> ids(5 * kFarPrefetchDistance);
    for (VertexId& id : ids) id = static_cast<VertexId>(random() % kVertices);
    for (std::size_t first = 0; first < ids.size();) {
      const std::size_t size = std::min(random() % (most + 1), ids.size() - first);
      for (const std::size_t behind : {std::size_t{0}, ids.size() - first - size}) {
        const Neighbours list{std::span(ids).subspan(first, size), nullptr, behind};
        double sum = 0;
        std::vector<VertexId> met;
        ForEachPrefetched(values, list, [&](std::size_t i, VertexId v, const double& value) {
          EXPECT_EQ(i, met.size());
          EXPECT_EQ(&value, &values[v]);
          met.push_back(v);
          sum += v;
        });
        EXPECT_TRUE(std::equal(met.begin(), met.end(), list.ids.begin(), list.ids.end()));
        EXPECT_EQ(SumAt<double>(values, list), sum);
      }
      first += size;
    }
  }
}

}  // namespace
}  // namespace slimgraph::dgemini
