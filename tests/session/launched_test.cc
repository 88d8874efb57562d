// Sessions with several compute nodes. The test starts itself again through `slimgraph launch`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/program.h"
#include "tests/session/checks.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

constexpr const char* kSeedVariable = "TEST_LAUNCHED_SEED";

std::uint64_t LaunchedSeed() {
  const char* const text = std::getenv(kSeedVariable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

CommandEnd Launch(NodeId nodes, NodeId compute, const std::string& test, std::uint64_t seed) {
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) std::abort();
  return RunSlimgraph(
      {"launch", "--nodes", std::to_string(nodes), "--compute", std::to_string(compute), "--",
       self.data(), "--gtest_also_run_disabled_tests", "--gtest_filter=" + test},
      {kSeedVariable + ("=" + std::to_string(seed))});
}

SessionOptions OnTwoThreads() {
  SessionOptions options;
  options.threads = 2;
  options.memory_node_program = CommandPath();
  return options;
}

// What each compute node runs.
TEST(DISABLED_Launched, Everything) {
  auto session = Session::Open(OnTwoThreads());
  ASSERT_OK(session);
  CheckPrograms(*session, LaunchedSeed());
  CheckAlgorithms(*session, LaunchedSeed());
  CheckPatterns(*session, LaunchedSeed());
  ASSERT_OK(session->Close());
}

TEST(DISABLED_Launched, DifferentCalls) {
  auto session = Session::Open(OnTwoThreads());
  ASSERT_OK(session);
  const std::vector<std::uint64_t> src = {1, 2}, dst = {2, 3};
  auto graph = Graph::FromEdges(*session, {src, dst, {}, false});
  ASSERT_OK(graph);
  const std::string wrong =
      session->first() ? MessageOf(PageRank(*graph)) : MessageOf(BreadthFirstSearch(*graph, 1));
  EXPECT_EQ(wrong,
            "node 1 calls BreadthFirstSearch while node 0 calls PageRank: all compute nodes "
            "must make the same calls in the same order");
  EXPECT_OK(ConnectedComponents(*graph));
  // Node 0 alone has counted this graph.
  EXPECT_FALSE(session->first() ? Graph::FromEdges(*session, {src, dst, {}, false}).has_value()
                                : PageRank(*graph).has_value());
  auto other = Graph::FromEdges(*session, {src, dst, {}, true});
  ASSERT_OK(other);
  EXPECT_OK(PageRank(*other));
  EXPECT_EQ(MessageOf(PageRank(session->first() ? *graph : *other)),
            "node 1 calls PageRank for another graph than node 0: all compute nodes must make the "
            "same calls in the same order");
  EXPECT_OK(PageRank(*graph));
  ASSERT_OK(session->Close());
  EXPECT_THAT(MessageOf(Session::Open(OnTwoThreads())), ::testing::HasSubstr("one session"));
}

TEST(DISABLED_Launched, OneNodeLeaves) {
  auto session = Session::Open(OnTwoThreads());
  ASSERT_OK(session);
  if (!session->first()) std::_Exit(0);
  EXPECT_THAT(MessageOf(Graph::Open(*session, "nothing.slim")), ::testing::HasSubstr("node 1"));
}

TEST(DISABLED_Launched, OneNodeClosesEarly) {
  auto session = Session::Open(OnTwoThreads());
  ASSERT_OK(session);
  const std::string wrong = session->first() ? MessageOf(Graph::Open(*session, "nothing.slim"))
                                             : MessageOf(session->Close());
  EXPECT_THAT(wrong, ::testing::StartsWith("node 1 calls Close while node 0 calls Graph::Open"));
}

TEST(SeveralComputeNodes, ComputeWhatSerialCodeDoes) {
  std::mt19937_64 random = SeededRandom();
  for (const auto& [nodes, compute] : {std::pair<NodeId, NodeId>{2, 2}, {4, 2}, {4, 4}, {5, 3}}) {
    const std::uint64_t seed = random();
    const CommandEnd end = Launch(nodes, compute, "DISABLED_Launched.Everything", seed);
    EXPECT_EQ(end.code, 0) << nodes << "," << compute << " seed " << seed << ": " << end.out
                           << end.err;
  }
}

TEST(SeveralComputeNodes, MustMakeTheSameCalls) {
  const CommandEnd end = Launch(3, 2, "DISABLED_Launched.DifferentCalls", 1);
  EXPECT_EQ(end.code, 0) << end.out << end.err;
}

TEST(SeveralComputeNodes, NoticeThatOneHasLeft) {
  const CommandEnd end = Launch(3, 2, "DISABLED_Launched.OneNodeLeaves", 1);
  EXPECT_NE(end.code, 0);
  EXPECT_THAT(end.err, ::testing::Not(::testing::HasSubstr("Failure"))) << end.err;
  EXPECT_LT(end.seconds, 15);
}

TEST(SeveralComputeNodes, AreNotSaidToHaveDiedWhenOneClosesEarly) {
  const CommandEnd end = Launch(3, 2, "DISABLED_Launched.OneNodeClosesEarly", 1);
  EXPECT_NE(end.code, 0);
  EXPECT_THAT(end.err, ::testing::Not(::testing::HasSubstr("node 1: died"))) << end.err;
  EXPECT_THAT(end.out, ::testing::Not(::testing::HasSubstr("Failure"))) << end.out;
}

}  // namespace
}  // namespace slimgraph::test
