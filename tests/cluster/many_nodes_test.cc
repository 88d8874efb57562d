// Jobs of more nodes than a word has bits. A simulation takes hundreds, processes only a few more.
#include <gtest/gtest.h>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/gather.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

#ifdef SLIMGRAPH_SIM
constexpr const char* kTransport = "sim";
constexpr NodeId kManyNodes[] = {65, 130, 300};
#else
constexpr const char* kTransport = "shm";
constexpr NodeId kManyNodes[] = {66};
#endif

class ManyNodes : public ::testing::TestWithParam<NodeId> {};
INSTANTIATE_TEST_SUITE_P(Nodes, ManyNodes, ::testing::ValuesIn(kManyNodes));

TEST_P(ManyNodes, CollectivesAndOperationsReachAllNodes) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    const NodeId compute = job.nodes() / 2 + 1;
    auto cluster = Cluster::Start(job, {.compute = compute, .transport = kTransport});
    ASSERT_TRUE(cluster) << cluster.error().message;
    const NodeId self = job.self();
    const auto all = GatherList<NodeId>((*cluster)->all(), std::span(&self, 1));
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), job.nodes());
    for (NodeId node = 0; node < job.nodes(); ++node) EXPECT_EQ((*all)[node], node);
    const auto sum = (*cluster)->all().AllSum<std::uint64_t>(self);
    ASSERT_TRUE(sum);
    EXPECT_EQ(*sum, std::uint64_t{job.nodes()} * (job.nodes() - 1) / 2);
    if ((*cluster)->computes()) {
      const auto most = (*cluster)->compute().AllMax(self);
      ASSERT_TRUE(most);
      EXPECT_EQ(*most, compute - 1);
    }
    // Each node adds to a counter of every node, and writes its number to every node.
    auto& fabric = (*cluster)->fabric();
    const auto region = fabric.Share((1 + job.nodes()) * sizeof(std::uint64_t));
    ASSERT_TRUE(region);
    const std::uint64_t number = self + std::uint64_t{1};
    for (NodeId node = 0; node < job.nodes(); ++node) {
      fabric.endpoint(0).FetchAdd(node, region->id, 0, number, nullptr);
      fabric.endpoint(0).Write(node, region->id, number * sizeof number,
                               std::as_bytes(std::span(&number, 1)));
    }
    EXPECT_EQ(fabric.endpoint(0).Flush(), Outcome::kOk);
    ASSERT_TRUE((*cluster)->all().Barrier());
    const auto* const words = reinterpret_cast<const std::uint64_t*>(region->memory.data());
    EXPECT_EQ(words[0], std::uint64_t{job.nodes()} * (job.nodes() + 1) / 2);
    for (NodeId node = 1; node <= job.nodes(); ++node) EXPECT_EQ(words[node], node);
    ASSERT_TRUE((*cluster)->Stop());
  });
}

}  // namespace
}  // namespace slimgraph
