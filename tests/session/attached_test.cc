// Sessions that attach to a graph of a pool. Each call begins in a fresh session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>

#include "slimgraph/base/confine.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "tests/session/processes.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {
namespace {

using ::testing::HasSubstr;

class AttachedSession : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new ScratchDirectory;
    ::setenv("SLIMGRAPH_POOLS", scratch_->File("pools").c_str(), 1);
    const std::string seed = std::to_string(SeededRandom()());
    Command({"gen", "kron", "-s", "9", "-k", "6", "--weights", "1..99", "--seed", seed, "-o",
             scratch_->File("g.slim")});
    Command(
        {"gen", "kron", "-s", "8", "--directed", "--seed", seed, "-o", scratch_->File("d.slim")});
    Command({"pool", "start", "p", "--nodes", "3"});
    Command({"pool", "load", "p", scratch_->File("g.slim")});
    Command({"pool", "load", "p", scratch_->File("d.slim")});
  }
  static void TearDownTestSuite() {
    RunSlimgraph({"pool", "stop", "p", "--now"});
    delete scratch_;
  }
  static std::string Command(const std::vector<std::string>& words) {
    // Another mark: the nodes of a pool outlive the command that has started them.
    const CommandEnd end = RunSlimgraph(words, {"TEST_MARK=pool"});
    EXPECT_EQ(end.code, 0) << words[0] << ": " << end.err;
    return end.out;
  }
  static Result<Session> Attach(const std::string& graph, SessionOptions options = {}) {
    options.memory_node_program = CommandPath();
    return Session::Attach("p:" + graph, options);
  }
  static void AwaitNobodyAttached() {
    for (int i = 0; i < 2000; ++i) {
      if (Command({"pool", "status", "p", "--json"}).find("\"jobs\":[]") != std::string::npos)
        return;
      ::usleep(10'000);
    }
    FAIL() << "somebody is still attached";
  }

  static ScratchDirectory* scratch_;
};
ScratchDirectory* AttachedSession::scratch_ = nullptr;

// What a call gives in a session of one node on the file.
template <typename Call>
auto OnFile(const std::string& path, Call call) {
  Session session = Unwrap(Session::Open());
  Graph graph = Unwrap(Graph::Open(session, path));
  return Unwrap(call(graph));
}

template <typename T>
void ExpectAlike(const VertexValues<T>& found, const VertexValues<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found.id(i), expected.id(i));
    if (found.values()[i] == expected.values()[i]) continue;  // also if both are infinite
    const auto right = static_cast<double>(expected.values()[i]);
    ASSERT_NEAR(static_cast<double>(found.values()[i]), right, 1e-9 * (1 + std::abs(right)));
  }
}

struct Reach {  // how many steps away a vertex is
  using Value = std::uint32_t;
  using Message = std::uint32_t;
  std::uint64_t source;
  Value Initial(std::uint64_t id) const { return id == source ? 0 : 1000; }
  bool Starts(std::uint64_t id) const { return id == source; }
  bool Ends(const StepInfo&) const { return false; }
  Message Nothing() const { return 1000; }
  Message Send(Value steps) const { return steps + 1; }
  Message Combine(Message a, Message b) const { return std::min(a, b); }
  bool Update(Value& steps, Message message) const {
    if (message >= steps) return false;
    steps = message;
    return true;
  }
};

TEST_F(AttachedSession, ComputesOnAPoolThatEncrypts) {
  Command({"pool", "start", "sealed", "--nodes", "2", "--encrypt"});
  Command({"pool", "load", "sealed", scratch_->File("g.slim")});
  const auto cores = [](Graph& graph) { return CoreNumbers(graph); };
  for (const NodeId compute : {1U, 2U}) {
    SessionOptions options;
    options.compute = compute;
    options.transport = "tcp";
    options.memory_node_program = CommandPath();
    Session session = Unwrap(Session::Attach("sealed:g", options));
    Graph graph = Unwrap(Graph::OfPool(session));
    ExpectAlike(Unwrap(cores(graph)), OnFile(scratch_->File("g.slim"), cores));
    EXPECT_TRUE(session.Close());
  }
  Command({"pool", "stop", "sealed", "--now"});
}

TEST_F(AttachedSession, ComputesOnAPoolOfSomebodyElse) {
  if (!CanConfine()) GTEST_SKIP() << "this kernel has no Landlock";
  Command({"pool", "share", "p", scratch_->File("shared")});
  Command({"pool", "add", scratch_->File("shared"), "--as", "theirs"});
  const auto cores = [](Graph& graph) { return CoreNumbers(graph); };
  for (const NodeId compute : {1U, 2U}) {
    SessionOptions options;
    options.compute = compute;
    options.memory_node_program = CommandPath();
    Session session = Unwrap(Session::Attach("theirs:g", options));
    Graph graph = Unwrap(Graph::OfPool(session));
    ExpectAlike(Unwrap(cores(graph)), OnFile(scratch_->File("g.slim"), cores));
    const auto count = [](Graph& g) { return Count(g, Unwrap(Pattern::Find("triangle"))); };
    EXPECT_EQ(Unwrap(count(graph)), OnFile(scratch_->File("g.slim"), count));
    EXPECT_OK(ConnectedComponents(graph));
    EXPECT_TRUE(session.Close());
    Session directed = Unwrap(Session::Attach("theirs:d", options));
    Graph arcs = Unwrap(Graph::OfPool(directed));
    ExpectAlike(Unwrap(cores(arcs)), OnFile(scratch_->File("d.slim"), cores));
    EXPECT_TRUE(directed.Close());
    options.transport = "shm";
    const auto refused = Session::Attach("theirs:g", options);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("shared with you for reading"));
  }
  Command({"pool", "forget", "theirs"});
}

TEST_F(AttachedSession, ComputesAsOnTheFile) {
  const std::string path = scratch_->File("g.slim");
  const std::uint64_t source = 1;
  std::vector<SessionOptions> all;
  for (const NodeId compute : {1U, 2U, 3U}) {
    for (const char* const transport : {"shm", "tcp"}) {
      for (const MemorySide side : {MemorySide::kStrict, MemorySide::kServe}) {
        SessionOptions options;
        options.compute = compute;
        options.transport = transport;
        options.threads = all.size() % 2 + 1;
        options.cache.side = side;
        options.cache.level = static_cast<CacheLevel>(1 + all.size() % 4);
        if (all.size() % 3 == 1) options.cache.access = Access::kRead;
        if (all.size() % 3 == 2 && options.transport == "shm") options.cache.host_of = compute % 3;
        all.push_back(options);
      }
    }
  }
  const auto same = [&](auto call) {
    const auto expected = OnFile(path, call);
    for (const SessionOptions& options : all) {
      SCOPED_TRACE("compute " + std::to_string(options.compute) + " " + options.transport);
      auto session = Attach("g", options);
      ASSERT_OK(session);
      EXPECT_EQ(session->nodes(), options.compute + 3);
      auto graph = Graph::OfPool(*session);
      ASSERT_OK(graph);
      const auto found = call(*graph);
      ASSERT_OK(found);
      ExpectAlike(*found, expected);
      ASSERT_OK(session->Close());
    }
  };
  same([&](Graph& graph) { return ShortestPaths(graph, source); });
  same([&](Graph& graph) { return BreadthFirstSearch(graph, source); });
  same([&](Graph& graph) { return PageRank(graph, {.iterations = 5}); });
  same([&](Graph& graph) { return ConnectedComponents(graph); });
  same([&](Graph& graph) { return BetweennessCentrality(graph, std::span(&source, 1)); });
  same([&](Graph& graph) { return CoreNumbers(graph); });
  SessionOptions elsewhere;
  elsewhere.cache.host_of = 3;
  const auto refused = Attach("g", elsewhere);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "SessionOptions.cache.host_of 3: pool 'p' has nodes 0 to 2");
  elsewhere.cache.host_of = 1;
  constexpr const char* kForPools =
      "SessionOptions.cache.host_of is for a graph of a pool, with cache.access kInPlace";
  const auto no_pool = Session::Open(elsewhere);
  ASSERT_FALSE(no_pool);
  EXPECT_EQ(no_pool.error().message, kForPools);
  elsewhere.cache.access = Access::kRead;
  const auto reads = Attach("g", elsewhere);
  ASSERT_FALSE(reads);
  EXPECT_EQ(reads.error().message, kForPools);
  elsewhere.cache.host_of.reset();
  const auto reads_file = Session::Open(elsewhere);
  ASSERT_FALSE(reads_file);
  EXPECT_EQ(reads_file.error().message, "SessionOptions.cache.access is for a graph of a pool");
  EXPECT_TRUE(ChildProcesses().empty());
  AwaitNobodyAttached();
}

TEST_F(AttachedSession, RunsProgramsOfTheUsersOwn) {
  const auto run = [](Graph& graph) -> Result<VertexValues<std::uint32_t>> {
    SLIM_ASSIGN(auto result, slimgraph::Run(graph, Reach{1}));
    return std::move(result.values);
  };
  const auto expected = OnFile(scratch_->File("g.slim"), run);
  auto session = Attach("g");
  ASSERT_OK(session);
  for (int round = 0; round < 2; ++round) {  // the graph can be opened again
    auto graph = Graph::OfPool(*session);
    ASSERT_OK(graph);
    EXPECT_EQ(graph->path(), "");
    const auto found = run(*graph);
    ASSERT_OK(found);
    ExpectAlike(*found, expected);
  }
}

TEST_F(AttachedSession, WorksBesideAnother) {
  auto one = Attach("g");
  auto other = Attach("d");
  ASSERT_OK(one);
  ASSERT_OK(other);
  auto graph = Graph::OfPool(*one);
  auto links = Graph::OfPool(*other);
  ASSERT_OK(graph);
  ASSERT_OK(links);
  EXPECT_TRUE(links->directed());
  const auto components = [](Graph& of) { return ConnectedComponents(of); };
  ExpectAlike(Unwrap(components(*links)), OnFile(scratch_->File("d.slim"), components));
  ExpectAlike(Unwrap(components(*graph)), OnFile(scratch_->File("g.slim"), components));
}

TEST_F(AttachedSession, SaysWhatItCannotDo) {
  EXPECT_THAT(MessageOf(Attach("nothing")), HasSubstr("has no graph 'nothing'"));
  EXPECT_THAT(MessageOf(Attach("g", {.nodes = 2})), HasSubstr("SessionOptions.nodes is 2"));
  EXPECT_THAT(MessageOf(Session::Attach("p")), HasSubstr("give NAME:GRAPH"));
  EXPECT_THAT(MessageOf(Session::Attach("q:g")), HasSubstr("pool 'q'"));
  Session alone = Unwrap(Session::Open());
  EXPECT_THAT(MessageOf(Graph::OfPool(alone)), HasSubstr("not attached to a pool"));
}

// In lists that the session's nodes load from the graph's file.
TEST_F(AttachedSession, IgnoresDirectionsInADirectedGraph) {
  bool strict = true;
  const auto same = [&](auto call) {
    const auto expected = OnFile(scratch_->File("d.slim"), call);
    for (const NodeId compute : {1U, 1U, 2U, 2U}) {
      SessionOptions options;
      options.compute = compute;
      options.cache.side = strict ? MemorySide::kStrict : MemorySide::kServe;
      strict = !strict;
      auto session = Attach("d", options);
      ASSERT_OK(session);
      auto graph = Graph::OfPool(*session);
      ASSERT_OK(graph);
      const auto found = call(*graph);
      ASSERT_OK(found);
      ExpectAlike(*found, expected);
      EXPECT_OK(PageRank(*graph));
    }
  };
  same([](Graph& graph) { return CoreNumbers(graph); });
  same([](Graph& graph) { return CommunityLabels(graph, 5); });
  same([](Graph& graph) { return MaximalIndependentSet(graph, 7); });
}

TEST_F(AttachedSession, CountsPatternsInTheGraphsFile) {
  for (const char* const name : {"triangle", "house"}) {
    const Pattern pattern = Unwrap(Pattern::Find(name));
    const auto count = [&](Graph& graph) { return Count(graph, pattern); };
    const std::uint64_t expected = OnFile(scratch_->File("g.slim"), count);
    for (const NodeId compute : {1U, 2U}) {
      SessionOptions options;
      options.compute = compute;
      auto session = Attach("g", options);
      ASSERT_OK(session);
      auto graph = Graph::OfPool(*session);
      ASSERT_OK(graph);
      EXPECT_EQ(Unwrap(count(*graph)), expected) << name << " on " << compute;
      EXPECT_OK(ConnectedComponents(*graph));
    }
  }
}

TEST_F(AttachedSession, LetsGoOfThePoolWhenItsProcessIsKilled) {
  const pid_t user = ::fork();
  if (user == 0) {
    SessionOptions options;
    options.compute = 2;
    auto session = Attach("g", options);
    auto graph = Graph::OfPool(*session);
    while (PageRank(*graph)) {
    }
    ::_exit(1);
  }
  while (Command({"pool", "status", "p", "--json"}).find("\"jobs\":[]") != std::string::npos) {
    ::usleep(10'000);
  }
  ::usleep(50'000);
  ::kill(user, SIGKILL);
  ::waitpid(user, nullptr, 0);
  AwaitNobodyAttached();
}

}  // namespace
}  // namespace slimgraph::test
