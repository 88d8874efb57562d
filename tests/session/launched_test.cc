// Sessions with several compute nodes. The test starts itself again through `slimgraph launch`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/program.h"
#include "tests/session/checks.h"
#include "tests/session/processes.h"
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
  return RunSlimgraph(
      {"launch", "--nodes", std::to_string(nodes), "--compute", std::to_string(compute), "--",
       SelfPath(), "--gtest_also_run_disabled_tests", "--gtest_filter=" + test},
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
  CheckNeighbourhoods(*session, LaunchedSeed());
  CheckPatterns(*session, LaunchedSeed());
  CheckMatches(*session, LaunchedSeed());
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

TEST(DISABLED_Launched, MemoryNodeProgramIsMissing) {
  SessionOptions options;
  options.compute = 2;
  options.memory_node_program = "./no-such-program";
  std::printf("%s\n", MessageOf(Session::Open(options)).c_str());
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
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  EXPECT_LT(end.seconds, 15);
}

TEST(SeveralComputeNodes, AreNotSaidToHaveDiedWhenOneClosesEarly) {
  const CommandEnd end = Launch(3, 2, "DISABLED_Launched.OneNodeClosesEarly", 1);
  EXPECT_EQ(end.code, 0) << end.out << end.err;
}

// Compute nodes do not wait for it until a time limit passes.
TEST(SeveralComputeNodes, EndWhenAMemoryNodeCannotStart) {
  RunningCommand command({"mpiexec.hydra", "-n", "3", SelfPath(), "--gtest_also_run_disabled_tests",
                          "--gtest_filter=DISABLED_Launched.MemoryNodeProgramIsMissing"});
  const CommandEnd end = command.Wait(std::chrono::minutes(2));
  EXPECT_EQ(end.code, 4) << end.out << end.err;
  EXPECT_THAT(end.err,
              ::testing::HasSubstr("slimgraph: node 2: cannot become the memory-node program "
                                   "'./no-such-program': No such file or directory; set "));
  EXPECT_THAT(end.out, ::testing::Not(::testing::HasSubstr("did not answer")));
}

// Programs that never open a session.
TEST(Launching, ReturnsTheProgramsExitCode) {
  const auto launched = [](const std::vector<std::string>& program) {
    std::vector<std::string> words = {"launch", "--nodes", "4", "--compute", "2", "--"};
    words.insert(words.end(), program.begin(), program.end());
    return RunSlimgraph(words);
  };
  EXPECT_EQ(launched({"true"}).code, 0);
  EXPECT_EQ(launched({"sh", "-c", "exit 7"}).code, 7);
  const CommandEnd killed = launched({"sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(killed.code, 137);
  EXPECT_THAT(killed.err, ::testing::EndsWith(": the program was ended by Killed\n"));
  const CommandEnd missing = launched({"./no-such-program"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_EQ(missing.err,
            "slimgraph: cannot start './no-such-program': No such file or directory\n");
  EXPECT_EQ(RunSlimgraph({"launch", "--nodes", "2", "--compute", "3", "--", "true"}).code, 2);
}

TEST(Launching, EndsAllWhenOneFails) {
  const CommandEnd end = RunSlimgraph({"launch", "--nodes", "2", "--", "sh", "-c",
                                       "case $SLIMGRAPH_JOIN in 0*) sleep 60;; *) exit 5;; esac"});
  EXPECT_EQ(end.code, 5) << end.err;
  EXPECT_LT(end.seconds, 30);
}

TEST(Launching, EndsAllOnASignal) {
  RunningCommand command({CommandPath(), "launch", "--nodes", "2", "--", "sleep", "60"});
  while (command.Processes().size() < 3) SleepFor(std::chrono::milliseconds(1));
  ::kill(command.pid(), SIGTERM);
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 128 + SIGTERM) << end.err;
  EXPECT_TRUE(command.Processes().empty());
}

}  // namespace
}  // namespace slimgraph::test
