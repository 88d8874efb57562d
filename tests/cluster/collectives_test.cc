#include "slimgraph/cluster/collectives.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>

#include "slimgraph/cluster/cluster.h"
#include "slimgraph/cluster/gather.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

class CollectivesOnNodes : public ::testing::TestWithParam<NodeId> {};
INSTANTIATE_TEST_SUITE_P(Nodes, CollectivesOnNodes, ::testing::Values(1, 2, 3, 4, 5, 8));

std::vector<std::byte> BytesOf(NodeId node, std::size_t size) {
  return std::vector<std::byte>(size, static_cast<std::byte>(node + 1));
}

TEST_P(CollectivesOnNodes, AllGatherGivesEveryonesBytesInOrder) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster) << cluster.error().message;
    // Sizes of zero, of a few bytes, and of more than one message.
    for (const std::size_t unit : {std::size_t{0}, std::size_t{3}, std::size_t{20'000}}) {
      const auto mine = BytesOf(job.self(), unit * (job.self() + 1));
      const auto all = (*cluster)->all().AllGather(mine);
      ASSERT_TRUE(all);
      ASSERT_EQ(all->size(), job.nodes());
      for (NodeId node = 0; node < job.nodes(); ++node) {
        EXPECT_EQ((*all)[node], BytesOf(node, unit * (node + 1)));
      }
    }
    ASSERT_TRUE((*cluster)->Stop());
  });
}

TEST_P(CollectivesOnNodes, AllToAllGivesEachNodeWhatTheOthersHaveForIt) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster) << cluster.error().message;
    const auto block = [&](std::size_t unit, NodeId from, NodeId to) {
      return std::vector<std::byte>(unit * (from + 2 * to), static_cast<std::byte>(7 * from + to));
    };
    for (const std::size_t unit : {std::size_t{0}, std::size_t{3}, std::size_t{20'000}}) {
      std::vector<std::vector<std::byte>> to_each;
      for (NodeId to = 0; to < job.nodes(); ++to) to_each.push_back(block(unit, job.self(), to));
      const auto from_each = (*cluster)->all().AllToAll(std::move(to_each));
      ASSERT_TRUE(from_each);
      ASSERT_EQ(from_each->size(), job.nodes());
      for (NodeId from = 0; from < job.nodes(); ++from) {
        EXPECT_EQ((*from_each)[from], block(unit, from, job.self()));
      }
    }
    ASSERT_TRUE((*cluster)->Stop());
  });
}

// Node n contributes n values.
TEST_P(CollectivesOnNodes, GatheredValuesAreInOrderOfRank) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    struct Pair {
      std::uint32_t node;
      double number;
      bool operator==(const Pair&) const = default;
    };
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster) << cluster.error().message;
    const auto values_of = [](NodeId node) { return std::vector<Pair>(node, {node, 0.5 * node}); };
    const auto mine = values_of(job.self());
    const auto by_rank = GatherByRank<Pair>((*cluster)->all(), mine);
    ASSERT_TRUE(by_rank);
    const auto list = GatherList<Pair>((*cluster)->all(), mine);
    ASSERT_TRUE(list);
    std::vector<Pair> expected;
    for (NodeId node = 0; node < job.nodes(); ++node) {
      EXPECT_EQ((*by_rank)[node], values_of(node));
      expected.insert(expected.end(), node, {node, 0.5 * node});
    }
    EXPECT_EQ(*list, expected);
    ASSERT_TRUE((*cluster)->Stop());
  });
}

TEST_P(CollectivesOnNodes, ReductionsAgreeToTheBit) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster);
    Collectives& all = (*cluster)->all();
    const NodeId n = job.nodes();
    EXPECT_EQ(*all.AllSum<std::uint64_t>(job.self() + 1), std::uint64_t{n} * (n + 1) / 2);
    EXPECT_EQ(*all.AllMax(job.self()), n - 1);
    const double sum = *all.AllSum(0.1 * (job.self() + 1));
    const auto sums = job.Exchange(fmt::format("{:a}", sum));
    ASSERT_TRUE(sums);
    for (const std::string& other : *sums) EXPECT_EQ(other, sums->front());
    ASSERT_TRUE((*cluster)->Stop());
  });
}

TEST_P(CollectivesOnNodes, ComputeNodesMeetWithoutMemoryNodes) {
  ExpectNodesRun(GetParam(), [](Job& job) {
    const NodeId compute = (job.nodes() + 1) / 2;
    auto cluster = Cluster::Start(job, {.compute = compute});
    ASSERT_TRUE(cluster);
    if ((*cluster)->computes()) {
      for (int i = 0; i < 100; ++i) ASSERT_EQ(*(*cluster)->compute().AllSum(1U), compute);
    }
    const auto root = (*cluster)->all().Broadcast(0, BytesOf(job.self(), 5));
    ASSERT_TRUE(root);
    EXPECT_EQ(*root, BytesOf(0, 5));
    ASSERT_TRUE((*cluster)->Stop());
  });
}

TEST(Collectives, FailWhenAMemberDies) {
  const NodesEnd end = RunNodes(3, OnLoss::kReport, [](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster);
    ASSERT_TRUE((*cluster)->all().Barrier());
    // All nodes have left the first barrier, so a death cannot disturb it any more.
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == 2) std::raise(SIGKILL);
    const Status met = (*cluster)->all().Barrier();
    EXPECT_FALSE(met);
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 128 + SIGKILL})) << end.output;
}

// A memory node dies. Node 1, which needs it, leaves the part; node 0 waits for node 1.
TEST(Collectives, FailWhenAnyNodeOfAPartDies) {
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [](Job& job) {
    job.SurviveDeaths(true);
    ASSERT_TRUE(job.Exchange(""));
    const auto anew = job.RunAmongSurvivors(1, [&](Job& part) -> Status {
      SLIM_ASSIGN(const auto cluster, Cluster::Start(part, {.compute = 2}));
      SLIM_TRY(cluster->all().Barrier());
      SLIM_TRY(part.Exchange(""));
      if (part.nodes() == 2) return cluster->Stop();
      if (job.self() == 2) std::raise(SIGKILL);
      while (job.self() == 1 && part.all_alive()) ::usleep(1000);
      if (job.self() == 1) return EnvironmentError("node 2 has died");
      return cluster->compute().Barrier();
    });
    ASSERT_TRUE(anew) << anew.error().message;
    EXPECT_EQ(*anew, 1U);
    ASSERT_TRUE(job.Exchange(""));
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 128 + SIGKILL})) << end.output;
}

TEST(Collectives, WaitingCostsNoProcessor) {
  ExpectNodesRun(2, [](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster);
    if (job.self() == 0) {
      ::sleep(2);
    }
    const auto used_us = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec +
             usage.ru_stime.tv_usec;
    };
    const auto before_us = used_us();
    ASSERT_TRUE((*cluster)->all().Barrier());
    if (job.self() == 1) {
      EXPECT_LT(used_us() - before_us, 20'000);
    }
    ASSERT_TRUE((*cluster)->Stop());
  });
}

}  // namespace
}  // namespace slimgraph
