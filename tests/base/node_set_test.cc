#include "slimgraph/base/node_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace slimgraph {
namespace {

template <typename Set>
std::vector<NodeId> MembersOf(const Set& set) {
  std::vector<NodeId> members;
  set.ForEach([&](NodeId node) { members.push_back(node); });
  return members;
}

// Random sets, compared with std::set. Members are few in some runs, and in few words in others.
template <typename Set>
void ExpectWhatStdSetDoes(std::uint32_t seed) {
  std::mt19937 random(seed);
  const NodeId room = 1 + static_cast<NodeId>(random() % Set::kRoom);
  Set set;
  std::set<NodeId> expected;
  Set cleared = Set::First(room);
  cleared.Clear();
  for (std::uint64_t i = random() % 300; i > 0; --i) {
    const auto node = static_cast<NodeId>(random() % room);
    set.Add(node);
    cleared.Add(node);
    expected.insert(node);
  }
  EXPECT_EQ(MembersOf(set), std::vector<NodeId>(expected.begin(), expected.end()));
  EXPECT_EQ(set.empty(), expected.empty());
  EXPECT_TRUE(set == cleared);
  for (NodeId node = 0; node < Set::kRoom; ++node) {
    EXPECT_EQ(set.Contains(node), expected.contains(node)) << node;
  }
  Set other = set;
  NodeId extra = 0;
  while (extra < Set::kRoom && expected.contains(extra)) ++extra;
  if (extra == Set::kRoom) return;
  other.Add(extra);
  EXPECT_FALSE(other == set) << "node " << extra;
}

TEST(NodeSet, DoesWhatStdSetDoes) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ExpectWhatStdSetDoes<NodeSet>(seed);
    ExpectWhatStdSetDoes<SmallNodeSet>(seed);
  }
}

TEST(NodeSet, HasRoomForAllNodes) {
  EXPECT_GE(NodeSet::kRoom, kMaxNodes);
  EXPECT_EQ(MembersOf(NodeSet::First(kMaxNodes)).size(), kMaxNodes);
  EXPECT_TRUE(NodeSet::First(0).empty());
  for (const NodeId count : {1U, 63U, 64U, 65U, kMaxNodes}) {
    const NodeSet first = NodeSet::First(count);
    EXPECT_TRUE(first.Contains(count - 1));
    EXPECT_EQ(MembersOf(first).size(), count);
  }
}

}  // namespace
}  // namespace slimgraph
