#include "dkudu/internal/kernel/sets.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <vector>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

using Ids = std::vector<VertexId>;

Ids RandomIds(std::mt19937_64& random, std::size_t size, VertexId limit) {
  std::set<VertexId> ids;
  while (ids.size() < size) ids.insert(static_cast<VertexId>(random() % limit));
  return {ids.begin(), ids.end()};
}

TEST(Sets, OperationsAgreeWithTheStandardLibrary) {
  auto random = SeededRandom();
  for (int round = 0; round < 3000; ++round) {
    const std::size_t longest = round % 10 == 0 ? 1000 : 70;
    const Ids a = RandomIds(random, random() % longest, static_cast<VertexId>(1100 + random() % 9));
    const Ids b = RandomIds(random, random() % longest, static_cast<VertexId>(1100 + random() % 9));
    Ids both;
    Ids only_a;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));

    Ids into(std::min(a.size(), b.size()) + dkudu::kSetSlack);
    EXPECT_EQ(dkudu::Intersect(a, b, nullptr), both.size());
    into.resize(dkudu::Intersect(a, b, into.data()));
    EXPECT_EQ(into, both);
    into.assign(a.size() + dkudu::kSetSlack, 0);
    EXPECT_EQ(dkudu::Subtract(a, b, nullptr), only_a.size());
    into.resize(dkudu::Subtract(a, b, into.data()));
    EXPECT_EQ(into, only_a);
  }
}

}  // namespace
}  // namespace slimgraph::test
