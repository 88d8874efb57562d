// Sessions in this process, with memory nodes that they start themselves.
#include "slimgraph/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/checks.h"
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

// The processes that this one has started.
std::vector<pid_t> Children() {
  std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return {std::istream_iterator<pid_t>(in), {}};
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
    ASSERT_OK(session.Close());
  }
}

TEST_P(SessionOn, PatternsAreCountedAsByTheirDefinition) {
  std::mt19937_64 random = SeededRandom();
  Session session = MustOpen(Options());
  for (int round = 0; round < 3; ++round) CheckPatterns(session, random());
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
  EXPECT_TRUE(Children().empty());
}

TEST_F(Sessions, ForgetGraphsThatNobodyUses) {
  Session session = MustOpen(WithNodes(2));
  std::size_t descriptors = 0;
  for (int round = 0; round < 6; ++round) {
    auto graph = OpenText(session);
    ASSERT_OK(graph);
    ASSERT_OK(PageRank(*graph));
    if (round == 2) descriptors = OpenDescriptors();
  }
  EXPECT_EQ(OpenDescriptors(), descriptors);
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
  EXPECT_OK(BreadthFirstSearch(*graph, 1));
  ASSERT_OK(session.Close());
  EXPECT_EQ(MessageOf(BreadthFirstSearch(*graph, 1)), "BreadthFirstSearch: the session is closed");
  EXPECT_EQ(graph->vertices(), 4U);
}

TEST_F(Sessions, RefuseOptionsThatCannotWork) {
  SessionOptions options = WithNodes(2);
  options.threads = 0;
  EXPECT_EQ(MessageOf(Session::Open(options)), "SessionOptions.threads is 0: give at least 1");
  options = WithNodes(2);
  options.transport = "mpi";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("mpi"));
  options = WithNodes(2);
  options.compute = 2;
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("slimgraph launch"));
  options = WithNodes(2);
  options.compute = 3;
  EXPECT_FALSE(Session::Open(options).has_value());
  options = WithNodes(2);
  options.memory_node_program = folder_ / "nothing";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("cannot start"));
  options.memory_node_program = "false";
  EXPECT_THAT(MessageOf(Session::Open(options)), ::testing::HasSubstr("ended before it joined"));
  EXPECT_TRUE(Children().empty());
}

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

class HurtSession : public Sessions, public ::testing::WithParamInterface<int> {};

TEST_P(HurtSession, EndsWithOneLineAndLeavesNothing) {
  SessionOptions options = WithNodes(3);
  options.cache.level = CacheLevel::kIndex;  // each step reads lists
  Session session = MustOpen(options);
  auto graph = OpenText(session);
  ASSERT_OK(graph);
  std::function<void()> hurt = [] { ::kill(Children()[0], GetParam()); };
  const auto result = slimgraph::Run(*graph, Endless{&hurt});
  // One-sided reads succeed from a node that is only stopped; the next call notices.
  std::string message = MessageOf(result);
  if (message.empty()) message = MessageOf(PageRank(*graph));
  EXPECT_THAT(message, ::testing::HasSubstr("node "));
  EXPECT_EQ(MessageOf(PageRank(*graph)), message);
  static_cast<void>(session.Close());
  EXPECT_TRUE(Children().empty());
}
INSTANTIATE_TEST_SUITE_P(Signals, HurtSession, ::testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "killed" : "stopped";
                         });

}  // namespace
}  // namespace slimgraph::test
