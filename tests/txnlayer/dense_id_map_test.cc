// Dense ids compared with a map: a vertex keeps its dense id whatever vertices come later.
#include <map>

#include "tests/txnlayer/support.h"
#include "txnlayer/graph_model/dense_id_map.h"

namespace slimgraph::test {
namespace {

using txn::DenseIdMap;
using txn::VertexName;

void ExpectLike(const DenseIdMap& ids, const std::map<VertexName, VertexId>& expected) {
  ASSERT_EQ(ids.count(), expected.size());
  auto next = expected.begin();
  ids.ForEach([&](VertexName name, VertexId dense) {
    ASSERT_EQ(name, next->first);
    ASSERT_EQ(dense, next->second);
    ++next;
  });
  std::vector<VertexId> list;  // every second one, in the order of names
  bool takes = true;
  for (const auto& [name, dense] : expected) {
    EXPECT_EQ(ids.Find(name), dense);
    EXPECT_EQ(ids[dense], name);
    if (!expected.contains(name + 1)) {
      EXPECT_FALSE(ids.Find(name + 1));
    }
    if (takes) list.push_back(dense);
    takes = !takes;
  }
  if (!expected.empty()) {
    EXPECT_EQ(ids.largest(), expected.rbegin()->first);
  }
  for (std::size_t i = 0; i + 1 < list.size(); ++i) EXPECT_TRUE(ids.Before(list[i], list[i + 1]));
  for (const auto& [name, dense] : expected) {
    std::size_t before = 0;
    while (before < list.size() && ids[list[before]] < name) ++before;
    EXPECT_EQ(ids.LowerBound(list, name), before);
    EXPECT_LE(ids.LowerBound(list, name + 1), before + 1);
  }
}

TEST(DenseIdMap, KeepsIdsOfExistingVertices) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const VertexName range = 20 + random() % 500;
    DenseIdMap ids;
    std::map<VertexName, VertexId> expected;
    if (random() % 2 == 0) {
      const VertexName first = random() % range;
      ids = DenseIdMap(OriginalIds(first, 10));
      for (VertexId i = 0; i < 10; ++i) expected[first + i] = i;
    }
    for (int step = 0; step < 6; ++step) {
      std::vector<VertexName> more;
      const VertexName least = random() % 2 == 0 || expected.empty() ? 0 : ids.largest() + 1;
      const std::uint64_t one_of = 1 + random() % 10;
      for (VertexName name = least; name < least + range / 4; ++name) {
        if (!expected.contains(name) && random() % one_of == 0) more.push_back(name);
      }
      ids = ids.With(more);
      for (const VertexName name : more) {
        expected.emplace(name, static_cast<VertexId>(expected.size()));
      }
      ExpectLike(ids, expected);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(DenseIdMap, IsContiguousWhileNamesAre) {
  const std::vector<VertexName> first = {7, 8, 9};
  const std::vector<VertexName> next = {10, 11};
  const std::vector<VertexName> far = {20};
  const std::vector<VertexName> between = {15};
  DenseIdMap ids = DenseIdMap().With(first).With(next);
  EXPECT_TRUE(ids.contiguous());
  ids = ids.With(far);
  EXPECT_TRUE(ids.ascending() && !ids.contiguous());
  ids = ids.With(between);
  EXPECT_FALSE(ids.ascending());
  EXPECT_EQ(ids.Find(20), 5u);
  EXPECT_EQ(ids.Find(15), 6u);
}

}  // namespace
}  // namespace slimgraph::test
