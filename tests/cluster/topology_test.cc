#include "slimgraph/cluster/topology.h"

#include <gtest/gtest.h>

#include <set>

namespace slimgraph {
namespace {

void ExpectOneDelegateForEachMemoryNode(NodeId nodes, NodeId compute) {
  const auto topology = Topology::Make(nodes, compute);
  ASSERT_TRUE(topology);
  std::multiset<NodeId> served;
  for (NodeId node = 0; node < compute; ++node) {
    EXPECT_TRUE(topology->is_compute(node));
    EXPECT_EQ(topology->delegate(node), node);
    for (const NodeId memory : topology->DelegationSet(node)) {
      EXPECT_FALSE(topology->is_compute(memory));
      EXPECT_EQ(topology->delegate(memory), node);
      served.insert(memory);
    }
  }
  ASSERT_EQ(served.size(), nodes - compute);
  ASSERT_EQ(std::set<NodeId>(served.begin(), served.end()).size(), nodes - compute);
}

TEST(DelegationSet, EveryMemoryNodeHasOneDelegate) {
  for (NodeId nodes = 1; nodes <= 66; ++nodes) {
    for (NodeId compute = 1; compute <= nodes; ++compute) {
      ExpectOneDelegateForEachMemoryNode(nodes, compute);
    }
  }
  for (const NodeId nodes : {127U, 128U, 129U, 512U, kMaxNodes - 1, kMaxNodes}) {
    for (const NodeId compute : {1U, 2U, 63U, 64U, 65U, nodes / 2, nodes - 1, nodes}) {
      ExpectOneDelegateForEachMemoryNode(nodes, compute);
    }
  }
}

TEST(DelegationSet, IsTheRoundRobinOfTheDesign) {
  const auto topology = Topology::Make(7, 3);
  EXPECT_EQ(topology->DelegationSet(0), (std::vector<NodeId>{3, 6}));
  EXPECT_EQ(topology->DelegationSet(1), (std::vector<NodeId>{4}));
  EXPECT_EQ(topology->DelegationSet(2), (std::vector<NodeId>{5}));
}

TEST(Topology, RefusesWhatIsOutOfRange) {
  EXPECT_EQ(Topology::Make(4, 5).error().message,
            "--compute 5 is out of range: of 4 nodes, 1..4 can compute");
  EXPECT_EQ(Topology::Make(4, 0).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Topology::Make(0, 0).error().message,
            "--nodes 0 is out of range: a job has 1..1024 nodes");
  EXPECT_FALSE(Topology::Make(kMaxNodes + 1, 1));
}

}  // namespace
}  // namespace slimgraph
