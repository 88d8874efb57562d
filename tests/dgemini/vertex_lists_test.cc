#include "dgemini/internal/vertex_lists.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace slimgraph::dgemini {
namespace {

TEST(VertexLists, VisitEachPositionOnceInOrderForAnyNumberOfShares) {
  const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    VertexLists lists;
    std::vector<VertexId> expected;
    const auto parts = static_cast<std::uint32_t>(random() % 5);
    for (std::uint32_t t = 0; t < parts; ++t) {
      for (std::uint64_t left = random() % 3 == 0 ? 0 : random() % 100; left > 0; --left) {
        expected.push_back(static_cast<VertexId>(random()));
        lists.part(t).push_back(expected.back());
      }
    }
    ASSERT_EQ(lists.size(), expected.size());
    std::vector<VertexId> found;
    const std::size_t shares = 1 + random() % 9;
    for (std::size_t i = 0; i < shares; ++i) {
      lists.ForRange(i * expected.size() / shares, (i + 1) * expected.size() / shares,
                     [&](std::span<const VertexId> part, std::size_t first, std::size_t end) {
                       ASSERT_LT(first, end);
                       for (; first < end; ++first) found.push_back(part[first]);
                     });
    }
    ASSERT_EQ(found, expected);
  }
}

TEST(VertexList, FilterKeepsSelectedVerticesInOrder) {
  std::vector<VertexId> some(1000);
  std::iota(some.begin(), some.end(), 0);
  VertexList list;
  list.append(some);
  list.append({});
  for (VertexId v = 1000; v < 2000; ++v) list.push_back(v);
  list.Filter([](VertexId v, VertexId) { return v % 3 == 0; });
  ASSERT_EQ(list.size(), 667u);
  for (VertexId i = 0; i < 667; ++i) ASSERT_EQ(list.begin()[i], 3 * i);
  VertexList other;
  other.push_back(7);
  other = std::move(list);
  EXPECT_EQ(other.size(), 667u);
}

}  // namespace
}  // namespace slimgraph::dgemini
