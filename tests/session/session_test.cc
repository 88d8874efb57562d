// Sessions in this process, with memory nodes that they start themselves.
#include "slimgraph/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/internal/call.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/checks.h"
#include "tests/session/processes.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

SessionOptions WithNodes(NodeId nodes) {
  SessionOptions options;
  options.nodes = nodes;
  options.memory_node_program = CommandPath();
  return options;
}

Session MustOpen(const SessionOptions& options) {
  auto session = Session::Open(options);
  if (!session) throw std::runtime_error(session.error().message);
  return *std::move(session);
}

std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Point {
  const char* name;
  NodeId nodes;
  std::uint32_t threads;
  const char* transport;
  CacheLevel level;
  double percent;
  MemorySide side;
};
void PrintTo(const Point& point, std::ostream* out) { *out << point.name; }

class SessionOn : public ::testing::TestWithParam<Point> {
 protected:
  SessionOptions Options() const {
    const Point& point = GetParam();
    SessionOptions options = WithNodes(point.nodes);
    options.threads = point.threads;
    options.transport = point.transport;
    options.cache.level = point.level;
    options.cache.edges.percent = point.percent;
    options.cache.side = point.side;
    return options;
  }
};

// Each check on a fresh session: nothing has warmed a cache.
TEST_P(SessionOn, ProgramsComputeWhatSerialCodeDoes) {
  std::mt19937_64 random = SeededRandom();
  for (int round = 0; round < 3; ++round) {
    Session session = MustOpen(Options());
    CheckPrograms(session, random());
    ASSERT_OK(session.Close());
  }
}

TEST_P(SessionOn, AlgorithmsComputeWhatSerialCodeDoes) {
  std::mt19937_64 random = SeededRandom();
  for (int round = 0; round < 3; ++round) {
    Session session = MustOpen(Options());
    CheckAlgorithms(session, random());
    CheckNeighbourhoods(session, random());
    ASSERT_OK(session.Close());
  }
}

TEST_P(SessionOn, SeveralGraphsAreUsedInTurn) {
  std::mt19937_64 random = SeededRandom();
  Session session = MustOpen(Options());
  CheckSeveralGraphs(session, random());
  ASSERT_OK(session.Close());
}

TEST_P(SessionOn, PatternsAreCountedAsByTheirDefinition) {
  std::mt19937_64 random = SeededRandom();
  Session session = MustOpen(Options());
  for (int round = 0; round < 3; ++round) {
    CheckPatterns(session, random());
    CheckMatches(session, random());
  }
  ASSERT_OK(session.Close());
}

INSTANTIATE_TEST_SUITE_P(
    Points, SessionOn,
    ::testing::Values(Point{"alone", 1, 1, "", CacheLevel::kEdge, 100, MemorySide::kStrict},
                      Point{"alone2threads", 1, 2, "", CacheLevel::kEdge, 100, MemorySide::kStrict},
                      Point{"2nodes", 2, 1, "", CacheLevel::kNone, 100, MemorySide::kStrict},
                      Point{"4nodes", 4, 2, "", CacheLevel::kEdge, 5, MemorySide::kStrict},
                      Point{"3nodesServe", 3, 2, "", CacheLevel::kIndex, 100, MemorySide::kServe},
                      Point{"3nodesTcp", 3, 1, "tcp", CacheLevel::kBitmap, 100,
                            MemorySide::kServe}),
    [](const auto& point) { return point.param.name; });

// A program that runs until it is told, so that a node can be hurt meanwhile.
struct Endless {
  using Value = std::uint64_t;
  std::function<void()>* once;
  Value Initial(std::uint64_t) const { return 0; }
  bool Ends(const StepInfo& info) const {
    if (info.steps == 2) (*once)();
    return info.steps == 2000;
  }
  Value Gather(Value own, const NeighbourValues<Value>&) const { return own + 1; }
};

// Writes a small graph, and opens it in a session.
class Sessions : public ::testing::Test {
 protected:
  Sessions() { WriteFile(text_, "1 2\n2 3\n3 1\n3 4\n"); }
  Result<Graph> OpenText(Session& session) {
    return Graph::Open(session, text_, {.directed = false});
  }
  ScratchFolder folder_;
  std::string text_ = folder_ / "graph.txt";
};

TEST_F(Sessions, LeaveNothingBehind) {
  const auto once = [&] {
    Session session = MustOpen(WithNodes(3));
    auto graph = OpenText(session);
    ASSERT_OK(graph);
    ASSERT_OK(BreadthFirstSearch(*graph, 1));
    ASSERT_OK(session.Close());
  };
  once();
  const std::size_t descriptors = OpenDescriptors();
  for (int round = 0; round < 5; ++round) once();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_TRUE(ChildProcesses().empty());
}

TEST_F(Sessions, ForgetGraphsThatNobodyUses) {
  Session session = MustOpen(WithNodes(2));
  std::size_t descriptors = 0;
  for (int round = 0; round < 6; ++round) {
    auto graph = OpenText(session);
    ASSERT_OK(graph);
    ASSERT_OK(PageRank(*graph));
    if (round == 2) descriptors = OpenDescriptors();
    if (round == 5) {
      EXPECT_EQ(OpenDescriptors(), descriptors);
    }
  }
  ASSERT_OK(session.Close());
}

TEST_F(Sessions, UseSeveralGraphsInTurn) {
  Session session = MustOpen(WithNodes(3));
  auto one = OpenText(session);
  const std::vector<std::uint64_t> src = {7, 8}, dst = {8, 9};
  auto other = Graph::FromEdges(session, {src, dst, {}, true});
  ASSERT_OK(one);
  ASSERT_OK(other);
  for (int round = 0; round < 3; ++round) {
    const auto near = BreadthFirstSearch(*one, 4);
    const auto far = BreadthFirstSearch(*other, 7);
    ASSERT_OK(near);
    ASSERT_OK(far);
    EXPECT_EQ(near->Find(1), 2U);
    EXPECT_EQ(far->Find(9), 2U);
  }
}

TEST_F(Sessions, RefuseWhatIsWrongAndGoOn) {
  Session session = MustOpen(WithNodes(2));
  EXPECT_THAT(MessageOf(Graph::Open(session, folder_ / "none.slim")),
              ::testing::HasSubstr("none.slim"));
  EXPECT_THAT(MessageOf(Graph::Open(session, folder_ / "none.txt", {.directed = false})),
              ::testing::HasSubstr("none.txt"));
  EXPECT_THAT(MessageOf(Graph::Open(session, text_)), ::testing::HasSubstr("directed"));
  const std::vector<std::uint64_t> two = {1, 2}, one = {1};
  EXPECT_EQ(MessageOf(Graph::FromEdges(session, {two, one, {}, false})),
            "there are 2 sources of edges, but 1 destinations");
  const std::vector<double> weights = {1, NAN};
  EXPECT_EQ(MessageOf(Graph::FromEdges(session, {two, two, weights, false})),
            "the weight of edge 1 is nan: weights must be finite");
  auto graph = OpenText(session);
  ASSERT_OK(graph);
  EXPECT_EQ(MessageOf(BreadthFirstSearch(*graph, 5)),
            "BreadthFirstSearch: 5 is no vertex of the graph, whose ids are from 1 to 4");
  EXPECT_THAT(MessageOf(ShortestPaths(*graph, 1)), ::testing::HasSubstr("has no weights"));
  auto directed = Graph::Open(session, text_, {.directed = true});
  ASSERT_OK(directed);
  EXPECT_THAT(MessageOf(Count(*directed, *Pattern::Find("triangle"))),
              ::testing::HasSubstr("directed"));
  EXPECT_EQ(MessageOf(PageRank(*graph, {.damping = NAN})),
            "PageRank: damping nan is out of range: 0 to 1");
  EXPECT_EQ(MessageOf(PageRank(*graph, {.source = 9})),
            "PageRank: 9 is no vertex of the graph, whose ids are from 1 to 4");
  EXPECT_EQ(MessageOf(PageRank(*graph, {.tolerance = 0})),
            "PageRank: tolerance 0 is out of range: 1e-14 and more");
  const auto all = [](std::uint32_t, std::span<const std::uint64_t>) { return true; };
  EXPECT_THAT(MessageOf(ForEachMatch(*graph, *Pattern::Find("triangle"), all, {.chunk_bytes = 1})),
              ::testing::HasSubstr("too little"));
  EXPECT_EQ(*ForEachMatch(*graph, *Pattern::Find("triangle"), all), 1U);
  EXPECT_OK(BreadthFirstSearch(*graph, 1));
  ASSERT_OK(session.Close());
  EXPECT_EQ(MessageOf(BreadthFirstSearch(*graph, 1)), "BreadthFirstSearch: the session is closed");
  EXPECT_EQ(MessageOf(LocalClustering(*graph)), "LocalClustering: the session is closed");
  EXPECT_EQ(graph->vertices(), 4U);
}

TEST_F(Sessions, GoOnAfterWeightsThatShortestPathsRefuse) {
  Session session = MustOpen(WithNodes(3));
  const std::vector<std::uint64_t> src = {1, 2, 3}, dst = {2, 3, 4};
  const std::vector<double> weights = {1, -2, 3};
  auto graph = Graph::FromEdges(session, {src, dst, weights, false});
  ASSERT_OK(graph);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(MessageOf(ShortestPaths(*graph, 1)), ::testing::HasSubstr("negative weight, -2"));
    EXPECT_OK(BreadthFirstSearch(*graph, 1));
  }
  ASSERT_OK(session.Close());
}

TEST_F(Sessions, CanBeMovedFromAndClosedTwice) {
  Session session = MustOpen(WithNodes(2));
  Session moved = std::move(session);
  EXPECT_OK(session.Close());  // NOLINT(bugprone-use-after-move): it must be harmless
  EXPECT_OK(moved.Close());
  EXPECT_OK(moved.Close());
}

TEST_F(Sessions, RunAtTheSameTimeInOneProcess) {
  Session one = MustOpen(WithNodes(2));
  std::optional<Session> other;
  Thread opens([&] { other = MustOpen(WithNodes(3)); });
  opens.join();
  auto near = OpenText(one);
  auto far = OpenText(*other);
  ASSERT_OK(near);
  ASSERT_OK(far);
  Thread computes([&] { EXPECT_OK(PageRank(*far)); });
  EXPECT_OK(PageRank(*near));
  computes.join();
  ASSERT_OK(one.Close());
  EXPECT_EQ(BreadthFirstSearch(*far, 4)->Find(1), 2U);
}

TEST_F(Sessions, DoNotPassTheProgramsFilesOn) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Session session = MustOpen(WithNodes(2));
  ::close(pipe[1]);
  char none = 0;
  EXPECT_EQ(::read(pipe[0], &none, 1), 0);  // blocks while a memory node can write
  ::close(pipe[0]);
}

TEST_F(Sessions, RefuseAnEnvironmentThatNamesNoNode) {
  ::setenv("SLIMGRAPH_JOIN", "1 2 127.0.0.1:1 old", 1);
  EXPECT_EQ(MessageOf(Session::Open(WithNodes(2))),
            "SLIMGRAPH_JOIN does not name a node: it is set by a session, not by hand");
  EXPECT_OK(Session::Open(WithNodes(2)));
}

TEST_F(Sessions, NoticeAnEndedMemoryNodeIfTheProgramIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  SessionOptions options = WithNodes(2);
  options.memory_node_program = "false";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("ended before it joined"));
  std::signal(SIGCHLD, before);
}

TEST_F(Sessions, LeaveNoTemporaryFile) {
  const std::string folder = folder_ / "temporary";
  std::filesystem::create_directory(folder);
  ::setenv("TMPDIR", folder.c_str(), 1);
  Session session = MustOpen(WithNodes(2));
  EXPECT_OK(OpenText(session));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
  EXPECT_THAT(MessageOf(OpenText(session)), ::testing::HasSubstr("cannot write"));
  ::unsetenv("TMPDIR");
  EXPECT_OK(OpenText(session));
}

// Graphs without vertices, and with one vertex and no edge.
TEST_F(Sessions, TakeGraphsWithoutEdges) {
  Session session = MustOpen(WithNodes(3));
  for (const std::size_t loops : {0, 1}) {
    const std::vector<std::uint64_t> ends(loops, 5);
    auto graph = Graph::FromEdges(session, {ends, ends, {}, false});
    ASSERT_OK(graph);
    EXPECT_EQ(graph->vertices(), loops);
    EXPECT_OK(PageRank(*graph));
    EXPECT_OK(ConnectedComponents(*graph));
    EXPECT_OK(BetweennessCentrality(*graph, {}));
    std::function<void()> nothing = [] {};
    EXPECT_OK(slimgraph::Run(*graph, Endless{&nothing}));
    EXPECT_EQ(BreadthFirstSearch(*graph, 5).has_value(), loops == 1);
    EXPECT_EQ(Count(*graph, *Pattern::Find("triangle")).has_value(), loops == 1);
    EXPECT_EQ(LocalCounts(*graph).has_value(), loops == 1);
    EXPECT_EQ(LocalClustering(*graph).has_value(), loops == 1);
    EXPECT_EQ(HopCounts(*graph, 5, 2).has_value(), loops == 1);
    EXPECT_OK(slimgraph::CoreNumbers(*graph));
    EXPECT_OK(CommunityLabels(*graph));
  }
}

TEST_F(Sessions, RefuseAMemoryNodeOfAnotherVersion) {
  JoinConfig hub{.self = 0, .nodes = 2, .secret = "secret"};
  hub.listener = *ListenTcp("127.0.0.1");
  JoinConfig node{.self = 1, .nodes = 2, .secret = "secret"};
  node.hub_address = fmt::format("127.0.0.1:{}", LocalAddress(hub.listener.get()).port());
  std::string told;
  Thread other([&] {
    const auto job = Job::Join(std::move(node), OnLoss::kReport);
    ASSERT_OK(job);
    told = MessageOf(internal::AgreeOnVersion(**job, "session 2"));
    EXPECT_OK((*job)->Leave(0));
  });
  const auto job = Job::Join(std::move(hub), OnLoss::kReport);
  EXPECT_OK(job);
  const std::string message = MessageOf(internal::AgreeOnVersion(**job, "session 1"));
  EXPECT_OK((*job)->Leave(0));
  other.join();
  EXPECT_THAT(message, ::testing::StartsWith("node 1 runs another version of SlimGraph"));
  EXPECT_EQ(told, message);
}

TEST(HelperPrograms, CannotBeStartedByHand) {
  for (const char* const command : {"memory-node", "compute-node"}) {
    EXPECT_THAT(RunSlimgraph({command}).err, ::testing::HasSubstr("not by hand"));
    for (const char* const join : {"0 0 x y", "1 9999 x y", "9 4 x y", "junk", "a b c d"}) {
      const CommandEnd end = RunSlimgraph({command}, {std::string("SLIMGRAPH_JOIN=") + join});
      EXPECT_EQ(end.code, 2) << join;
      EXPECT_THAT(end.err, ::testing::HasSubstr("not by hand")) << join;
    }
  }
}

TEST_F(Sessions, RefuseOptionsThatCannotWork) {
  SessionOptions options = WithNodes(2);
  options.threads = 0;
  EXPECT_EQ(MessageOf(Session::Open(options)), "SessionOptions.threads is 0: give at least 1");
  options = WithNodes(2);
  options.transport = "mpi";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("mpi"));
  options = WithNodes(2);
  options.cache.side = MemorySide::kReduce;
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("cannot reduce"));
  options = WithNodes(2);
  options.compute = 3;
  EXPECT_FALSE(Session::Open(options).has_value());
  options = WithNodes(2);
  options.memory_node_program = folder_ / "nothing";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("cannot start"));
  options.memory_node_program = "false";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("ended before it joined"));
  EXPECT_TRUE(ChildProcesses().empty());
}

class HurtSession : public Sessions, public ::testing::WithParamInterface<int> {};

TEST_P(HurtSession, EndsWithOneLineAndLeavesNothing) {
  SessionOptions options = WithNodes(3);
  options.cache.level = CacheLevel::kIndex;  // each step reads lists
  Session session = MustOpen(options);
  auto graph = OpenText(session);
  ASSERT_OK(graph);
  std::function<void()> hurt = [] { ::kill(ChildProcesses()[0], GetParam()); };
  const auto result = slimgraph::Run(*graph, Endless{&hurt});
  // One-sided reads succeed from a node that is only stopped; the next call notices.
  std::string message = MessageOf(result);
  if (message.empty()) message = MessageOf(PageRank(*graph));
  EXPECT_THAT(message, ::testing::HasSubstr("node "));
  EXPECT_EQ(MessageOf(PageRank(*graph)), message);
  EXPECT_EQ(MessageOf(session.Close()), message);
  EXPECT_TRUE(ChildProcesses().empty());
}
INSTANTIATE_TEST_SUITE_P(Signals, HurtSession, ::testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "killed" : "stopped";
                         });

}  // namespace
}  // namespace slimgraph::test
