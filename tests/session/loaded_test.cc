// What stays loaded between the calls of a session, and what a session does without memory for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <tuple>

#include "slimgraph/files/convert.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LoadedGraph : public ::testing::TestWithParam<std::pair<NodeId, NodeId>> {
 protected:
  Session OpenSession() const {
    SessionOptions options;
    std::tie(options.nodes, options.compute) = GetParam();
    options.memory_node_program = CommandPath();
    auto session = Session::Open(options);
    if (!session) throw std::runtime_error(session.error().message);
    return *std::move(session);
  }
  // A square with one diagonal, and a tail.
  std::string WriteSlim(bool directed) const {
    const std::vector<std::uint64_t> src = {1, 2, 3, 4, 1, 4}, dst = {2, 3, 4, 1, 3, 5};
    std::string path = folder_ / (directed ? "directed.slim" : "graph.slim");
    const Status written = WriteSlimFile({src, dst, {}, directed}, path);
    if (!written) throw std::runtime_error(written.error().message);
    return path;
  }
  ScratchFolder folder_;
};

TEST_P(LoadedGraph, IsLoadedOnceForSeveralCounts) {
  Session session = OpenSession();
  const std::string path = WriteSlim(false);
  auto graph = Graph::Open(session, path);
  ASSERT_OK(graph);
  const auto triangle = *Pattern::Find("triangle");
  const auto square = *Pattern::Make({{1, 2}, {2, 3}, {3, 4}, {4, 1}}, "square");
  ASSERT_OK(LocalCounts(*graph));
  std::filesystem::resize_file(path, 64);  // whoever reads the file again gets an error
  for (int round = 0; round < 3; ++round) {
    const auto triangles = Count(*graph, triangle);
    ASSERT_OK(triangles);
    EXPECT_EQ(*triangles, 2U);
    const auto squares = Count(*graph, square);
    ASSERT_OK(squares);
    EXPECT_EQ(*squares, 1U);
    const auto induced = Count(*graph, square, {.induced = true});
    ASSERT_OK(induced);
    EXPECT_EQ(*induced, 0U);
    const auto local = LocalCounts(*graph);
    ASSERT_OK(local);
    EXPECT_EQ(local->Find(1)->triangles, 2U);
  }
  ASSERT_OK(session.Close());
}

// Triangles need only the upper parts of lists, which do not suffice for the others.
TEST_P(LoadedGraph, IsLoadedAgainIfACallNeedsMore) {
  Session session = OpenSession();
  auto graph = Graph::Open(session, WriteSlim(false));
  ASSERT_OK(graph);
  auto directed = Graph::Open(session, WriteSlim(true));
  ASSERT_OK(directed);
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(LocalClustering(*directed));
    const auto triangles = Count(*graph, *Pattern::Find("triangle"));
    ASSERT_OK(triangles);
    EXPECT_EQ(*triangles, 2U);
    const auto local = LocalCounts(*graph);
    ASSERT_OK(local);
    EXPECT_EQ(local->Find(5)->triangles, 0U);
    EXPECT_EQ(local->Find(4)->degree, 3U);
    ASSERT_OK(PageRank(*graph));
  }
  ASSERT_OK(session.Close());
}

// Node 0 alone finds that the memory does not suffice.
TEST_P(LoadedGraph, IsRefusedByAllNodesWithoutMemoryAndTheSessionGoesOn) {
  Session session = OpenSession();
  const auto triangle = *Pattern::Find("triangle");
  for (int round = 0; round < 2; ++round) {
    auto graph = Graph::Open(session, WriteSlim(false));
    ASSERT_OK(graph);
    ASSERT_EQ(::setenv("SLIMGRAPH_NODE_MEMORY", "4096", 1), 0);
    const std::string counting = MessageOf(Count(*graph, triangle));
    const std::string ranking = MessageOf(PageRank(*graph));
    ASSERT_EQ(::unsetenv("SLIMGRAPH_NODE_MEMORY"), 0);
    for (const std::string& message : {counting, ranking}) {
      EXPECT_THAT(message, HasSubstr("a node may hold 4.0 KiB"));
      EXPECT_THAT(message, Not(HasSubstr("--")));
    }
    const auto triangles = Count(*graph, triangle);
    ASSERT_OK(triangles);
    EXPECT_EQ(*triangles, 2U);
    ASSERT_OK(PageRank(*graph));
  }
  ASSERT_OK(session.Close());
}

TEST_P(LoadedGraph, TellsTheTrafficOfItsLastCall) {
  Session session = OpenSession();
  auto graph = Graph::Open(session, WriteSlim(false));
  ASSERT_OK(graph);
  EXPECT_FALSE(graph->traffic_bytes().has_value());
  ASSERT_OK(PageRank(*graph));
  ASSERT_TRUE(graph->traffic_bytes().has_value());
  EXPECT_EQ(*graph->traffic_bytes() > 0, session.nodes() > 1);
  if (session.compute() == 1) {  // all lists are in the edge cache
    ASSERT_OK(PageRank(*graph));
    EXPECT_EQ(graph->traffic_bytes(), 0U);
  }
  ASSERT_OK(LocalCounts(*graph));
  ASSERT_TRUE(graph->traffic_bytes().has_value());
  EXPECT_EQ(*graph->traffic_bytes() > 0, session.nodes() > 1);
  EXPECT_FALSE(BreadthFirstSearch(*graph, 77).has_value());
  ASSERT_OK(session.Close());
}

TEST_P(LoadedGraph, IsNamedByItsUserInMessages) {
  Session session = OpenSession();
  const std::string path = folder_ / "roads.txt";
  WriteFile(path, "1 2 -1\n2 3 1\n");
  auto read = Graph::Open(session, path, {.directed = false, .weighted = true});
  ASSERT_OK(read);
  const std::string message = MessageOf(ShortestPaths(*read, 1));
  EXPECT_THAT(message, HasSubstr("roads.txt"));
  EXPECT_THAT(message, Not(HasSubstr(".slim")));
  const std::vector<std::uint64_t> src = {1, 2}, dst = {2, 3};
  const std::vector<double> weights = {1, -2};
  auto given = Graph::FromEdges(session, {src, dst, weights, false});
  ASSERT_OK(given);
  EXPECT_THAT(MessageOf(ShortestPaths(*given, 1)), HasSubstr("the graph of Graph::FromEdges"));
}

TEST_P(LoadedGraph, IsRefusedInTheWordsOfTheLibrary) {
  Session session = OpenSession();
  const std::string path = folder_ / "roads.txt";
  WriteFile(path, "1 2 3\n2 3 4\n3 1 5\n");
  EXPECT_THAT(MessageOf(Graph::Open(session, path, {.directed = false})),
              HasSubstr("set ReadOptions.weighted to keep them"));
  WriteFile(folder_ / "plain.txt", "1 2\n");
  EXPECT_THAT(MessageOf(Graph::Open(session, folder_ / "plain.txt")),
              HasSubstr("set ReadOptions.directed"));
  EXPECT_THAT(
      MessageOf(Graph::Open(session, folder_ / "plain.txt", {.directed = false, .weighted = true})),
      HasSubstr("leave out ReadOptions.weighted"));
  WriteFile(folder_ / "plain.what", "1 2\n");
  EXPECT_THAT(MessageOf(Graph::Open(session, folder_ / "plain.what")),
              HasSubstr("set ReadOptions.format to"));
  auto graph = Graph::Open(session, path, {.directed = false, .weighted = true});
  ASSERT_OK(graph);
  EXPECT_THAT(MessageOf(Count(*graph, *Pattern::Find("house"), {.chunk_bytes = 1})),
              HasSubstr("MatchOptions.chunk_bytes 1 B is too little"));
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, LoadedGraph,
    ::testing::Values(std::pair<NodeId, NodeId>{1, 1}, std::pair<NodeId, NodeId>{4, 1},
                      std::pair<NodeId, NodeId>{4, 2}, std::pair<NodeId, NodeId>{3, 3}),
    [](const auto& point) {
      return std::to_string(point.param.second) + "of" + std::to_string(point.param.first);
    });

// A limit of the memory of a node, in this process alone.
class NodeMemory {
 public:
  explicit NodeMemory(std::uint64_t bytes) {
    ::setenv("SLIMGRAPH_NODE_MEMORY", std::to_string(bytes).c_str(), 1);
  }
  ~NodeMemory() { ::unsetenv("SLIMGRAPH_NODE_MEMORY"); }
};

// What one call needs fits only after the lists of the other have been unloaded.
TEST(LoadedGraphs, AreUnloadedIfAnotherCallNeedsTheirMemory) {
  ScratchFolder folder;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> src(1'500'000), dst(src.size());
  for (std::uint64_t& v : src) v = random() % 30'000;
  for (std::uint64_t& v : dst) v = random() % 30'000;
  const std::string path = folder / "g.slim";
  ASSERT_OK(WriteSlimFile({src, dst, {}, false}, path));
  const auto rank = [](Graph& graph) { return PageRank(graph, {.iterations = 1}).has_value(); };
  const auto count = [](Graph& graph) {
    return LocalCounts(graph, {.chunk_bytes = 0, .cache_bytes = 0}).has_value();
  };
  using Call = std::function<bool(Graph&)>;
  for (const auto& [first, second] : {std::pair<Call, Call>{rank, count}, {count, rank}}) {
    std::uint64_t least = 0;  // the memory that the second call takes alone, within a megabyte
    for (std::uint64_t step = 512 << 20; step >= 1 << 20; step /= 2) {
      auto session = Session::Open({});
      ASSERT_OK(session);
      auto graph = Graph::Open(*session, path);
      ASSERT_OK(graph);
      const NodeMemory limit(least + step);
      if (!second(*graph)) least += step;
    }
    auto session = Session::Open({});
    ASSERT_OK(session);
    auto one = Graph::Open(*session, path);
    auto other = Graph::Open(*session, path);
    ASSERT_OK(other);
    ASSERT_TRUE(first(*one));
    {
      const NodeMemory limit(least + (4 << 20));  // the lists of the first have 12 MB and more
      EXPECT_TRUE(second(*other));
    }
    EXPECT_TRUE(first(*one));
    ASSERT_OK(session->Close());
  }
}

TEST(OptionsOfSessions, AreNamedInErrors) {
  SessionOptions options;
  options.memory_node_program = CommandPath();
  options.nodes = 2;
  options.compute = 3;
  EXPECT_THAT(MessageOf(Session::Open(options)), HasSubstr("SessionOptions.compute 3 is out of"));
  options.compute = 1;
  options.transport = "udp";
  EXPECT_THAT(MessageOf(Session::Open(options)), HasSubstr("SessionOptions.transport udp"));
}

}  // namespace
}  // namespace slimgraph::test
