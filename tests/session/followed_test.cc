// Sessions of several compute nodes in one process: the others are helper programs that follow it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/checks.h"
#include "tests/session/processes.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

struct FollowedPoint {
  const char* name;
  NodeId nodes;
  NodeId compute;
  std::uint32_t threads;
  const char* transport;
  CacheLevel level;
  MemorySide side;
};
void PrintTo(const FollowedPoint& point, std::ostream* out) { *out << point.name; }

SessionOptions FollowedBy(NodeId nodes, NodeId compute) {
  SessionOptions options;
  options.nodes = nodes;
  options.compute = compute;
  options.memory_node_program = CommandPath();
  return options;
}

class FollowedSession : public ::testing::TestWithParam<FollowedPoint> {
 protected:
  Result<Session> Open() const {
    const FollowedPoint& point = GetParam();
    SessionOptions options = FollowedBy(point.nodes, point.compute);
    options.threads = point.threads;
    options.transport = point.transport;
    options.cache.level = point.level;
    options.cache.side = point.side;
    return Session::Open(options);
  }
};

TEST_P(FollowedSession, ComputesWhatSerialCodeDoes) {
  std::mt19937_64 random = SeededRandom();
  for (int round = 0; round < 3; ++round) {
    auto session = Open();
    ASSERT_OK(session);
    EXPECT_EQ(session->compute(), GetParam().compute);
    CheckAlgorithms(*session, random());
    CheckNeighbourhoods(*session, random());
    CheckPatterns(*session, random());
    CheckAlgorithms(*session, random());
    ASSERT_OK(session->Close());
  }
  EXPECT_TRUE(ChildProcesses().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Points, FollowedSession,
    ::testing::Values(
        FollowedPoint{"2of2", 2, 2, 1, "", CacheLevel::kEdge, MemorySide::kStrict},
        FollowedPoint{"2of4", 4, 2, 2, "", CacheLevel::kNone, MemorySide::kStrict},
        FollowedPoint{"2of4Serve", 4, 2, 1, "", CacheLevel::kIndex, MemorySide::kServe},
        FollowedPoint{"3of5Tcp", 5, 3, 1, "tcp", CacheLevel::kEdge, MemorySide::kServe},
        FollowedPoint{"3of3", 3, 3, 2, "", CacheLevel::kEdge, MemorySide::kStrict}),
    [](const auto& point) { return point.param.name; });

struct Count2Steps {
  using Value = std::uint64_t;
  Value Initial(std::uint64_t) const { return 0; }
  bool Ends(const StepInfo& info) const { return info.steps == 2; }
  Value Gather(Value own, const NeighbourValues<Value>&) const { return own + 1; }
};

class Followers : public ::testing::Test {
 protected:
  Result<Graph> OpenSmall(Session& session) {
    const std::vector<std::uint64_t> src = {1, 2, 3, 3}, dst = {2, 3, 1, 4};
    return Graph::FromEdges(session, {src, dst, {}, false});
  }
};

TEST_F(Followers, AreNotAskedToRunFunctionsOfTheProgram) {
  auto session = Session::Open(FollowedBy(4, 2));
  ASSERT_OK(session);
  auto graph = OpenSmall(*session);
  ASSERT_OK(graph);
  const std::string why =
      ": the other compute nodes of this session cannot run functions of the program: start it "
      "with 'slimgraph launch --nodes 4 --compute 2 -- PROGRAM'";
  EXPECT_EQ(MessageOf(slimgraph::Run(*graph, Count2Steps{})), "Run" + why);
  const auto all = [](std::uint32_t, std::span<const std::uint64_t>) { return true; };
  const auto triangle = *Pattern::Find("triangle");
  EXPECT_EQ(MessageOf(ForEachMatch(*graph, triangle, all)), "ForEachMatch" + why);
  const auto count = slimgraph::Count(*graph, triangle);
  ASSERT_OK(count);
  EXPECT_EQ(*count, 1U);
  ASSERT_OK(session->Close());
}

TEST_F(Followers, GoOnAfterCallsThatAreRefused) {
  auto session = Session::Open(FollowedBy(3, 2));
  ASSERT_OK(session);
  EXPECT_FALSE(Graph::Open(*session, "/nothing.slim").has_value());
  EXPECT_FALSE(Graph::Open(*session, "/nothing.txt", {.directed = true}).has_value());
  const std::vector<std::uint64_t> src = {1, 2}, dst = {2, 3};
  const std::vector<double> weights = {1, -2};
  auto graph = Graph::FromEdges(*session, {src, dst, weights, false});
  ASSERT_OK(graph);
  EXPECT_THAT(MessageOf(ShortestPaths(*graph, 1)), ::testing::HasSubstr("negative weight"));
  const auto hops = BreadthFirstSearch(*graph, 1);
  ASSERT_OK(hops);
  EXPECT_EQ(hops->Find(3), 2U);
  ASSERT_OK(session->Close());
}

class HurtFollower : public Followers, public ::testing::WithParamInterface<int> {};

TEST_P(HurtFollower, EndsTheSessionWithOneLine) {
  auto session = Session::Open(FollowedBy(3, 2));
  ASSERT_OK(session);
  auto graph = OpenSmall(*session);
  ASSERT_OK(graph);
  ASSERT_OK(PageRank(*graph));
  ::kill(ChildProcesses()[0], GetParam());
  const std::string message = MessageOf(PageRank(*graph));
  EXPECT_THAT(message, ::testing::HasSubstr("node 1"));
  EXPECT_EQ(MessageOf(PageRank(*graph)), message);
  EXPECT_EQ(MessageOf(session->Close()), message);
  EXPECT_TRUE(ChildProcesses().empty());
}
INSTANTIATE_TEST_SUITE_P(Signals, HurtFollower, ::testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "killed" : "stopped";
                         });

// What the next test runs, and kills.
TEST(DISABLED_Followed, Endlessly) {
  auto session = Session::Open(FollowedBy(4, 2));
  ASSERT_OK(session);
  const std::vector<std::uint64_t> src = {1, 2}, dst = {2, 3};
  auto graph = Graph::FromEdges(*session, {src, dst, {}, false});
  ASSERT_OK(graph);
  while (PageRank(*graph, {.iterations = 1000})) {
  }
}

// Whether the command has this many processes within 30 s.
bool AwaitProcesses(const RunningCommand& command, std::size_t count) {
  for (int tries = 0; tries < 30'000; ++tries) {
    if (command.Processes().size() == count) return true;
    SleepFor(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_F(Followers, DieWithNode0) {
  RunningCommand command({SelfPath(), "--gtest_also_run_disabled_tests",
                          "--gtest_filter=DISABLED_Followed.Endlessly"});
  ASSERT_TRUE(AwaitProcesses(command, 4));
  ::kill(command.pid(), SIGKILL);
  command.Wait();
  EXPECT_TRUE(AwaitProcesses(command, 0));
}

}  // namespace
}  // namespace slimgraph::test
