// What another thread may do during a call of a session: Cancel, which ends the call, and Progress.
// And what another session can do with the graph of a session that was cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/session/algorithms.h"
#include "slimgraph/session/patterns.h"
#include "slimgraph/session/program.h"
#include "slimgraph/session/session.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

using ::testing::HasSubstr;

std::vector<pid_t> ChildrenOfTest() {
  std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return {std::istream_iterator<pid_t>(in), {}};
}

Session OpenNodes(NodeId nodes, std::uint32_t threads) {
  SessionOptions options;
  options.nodes = nodes;
  options.threads = threads;
  options.memory_node_program = CommandPath();
  auto session = Session::Open(options);
  if (!session) throw std::runtime_error(session.error().message);
  return *std::move(session);
}

struct Ends {
  std::vector<std::uint64_t> src;
  std::vector<std::uint64_t> dst;
};

Ends CompleteGraph(std::uint64_t vertices) {
  Ends ends;
  for (std::uint64_t u = 0; u < vertices; ++u) {
    for (std::uint64_t v = u + 1; v < vertices; ++v) {
      ends.src.push_back(u);
      ends.dst.push_back(v);
    }
  }
  return ends;
}

// A program without an end, which tells when it runs.
struct WithoutAnEnd {
  using Value = std::uint64_t;
  std::atomic<bool>* runs;
  Value Initial(std::uint64_t id) const { return id; }
  Value Gather(Value own, const NeighbourValues<Value>&) const { return own + 1; }
  bool Ends(const StepInfo&) const {
    *runs = true;
    runs->notify_all();
    return false;
  }
};

struct NodesAndThreads {
  NodeId nodes;
  std::uint32_t threads;
};
class Cancelled : public ::testing::TestWithParam<NodesAndThreads> {
 protected:
  // Makes a call on another thread, cancels it once it runs, and returns its error.
  template <typename Call>
  std::string ErrorOf(Session& session, std::atomic<bool>& runs, Call call) {
    std::string message;
    std::thread caller([&] {
      const auto result = call();
      message = result ? "no error" : result.error().message;
      runs = true;  // also if it never ran
      runs.notify_all();
    });
    runs.wait(false);
    session.Cancel();
    caller.join();
    return message;
  }
};

TEST_P(Cancelled, AVertexProgramWithoutAnEndReturnsAnErrorAndTheSessionIsOver) {
  Session session = OpenNodes(GetParam().nodes, GetParam().threads);
  const Ends ends = CompleteGraph(300);
  auto graph = Graph::FromEdges(session, {ends.src, ends.dst});
  ASSERT_TRUE(graph) << graph.error().message;
  std::atomic<bool> runs{false};
  const std::string error =
      ErrorOf(session, runs, [&] { return slimgraph::Run(*graph, WithoutAnEnd{.runs = &runs}); });
  EXPECT_THAT(error, HasSubstr("cancelled"));
  const auto later = BreadthFirstSearch(*graph, 0);
  ASSERT_FALSE(later);
  EXPECT_THAT(later.error().message, HasSubstr("cancelled"));
  EXPECT_FALSE(session.Close());
  EXPECT_TRUE(ChildrenOfTest().empty());
}

// A complete graph of 300 vertices has more than 10^18 paths of eight.
TEST_P(Cancelled, ASearchForMoreMatchesThanEverCanBeVisitedReturnsAnError) {
  Session session = OpenNodes(GetParam().nodes, GetParam().threads);
  const Ends ends = CompleteGraph(300);
  auto graph = Graph::FromEdges(session, {ends.src, ends.dst});
  ASSERT_TRUE(graph) << graph.error().message;
  auto path = Pattern::Make({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}, "path");
  std::atomic<bool> runs{false};
  const auto visit = [&](std::uint32_t, std::span<const std::uint64_t>) {
    if (!runs.exchange(true)) runs.notify_all();
    return true;
  };
  const std::string error =
      ErrorOf(session, runs, [&] { return ForEachMatch(*graph, *path, visit); });
  EXPECT_THAT(error, HasSubstr("cancelled"));
  EXPECT_FALSE(session.Close());
  EXPECT_TRUE(ChildrenOfTest().empty());
}

TEST_P(Cancelled, AnotherSessionOpensTheGraphOfEdgesAnew) {
  Session session = OpenNodes(GetParam().nodes, GetParam().threads);
  const std::vector<std::uint64_t> src = {1, 2};
  const std::vector<std::uint64_t> dst = {2, 3};
  const std::vector<std::uint64_t> alone = {9};
  auto graph = Graph::FromEdges(session, {.src = src, .dst = dst, .vertices = alone});
  ASSERT_TRUE(graph) << graph.error().message;
  session.Cancel();
  Session next = OpenNodes(GetParam().nodes, GetParam().threads);
  auto again = Graph::Open(next, graph->path(), {.directed = {}, .format = "slim"});
  ASSERT_TRUE(again) << again.error().message;
  const auto hops = BreadthFirstSearch(*again, 1);
  ASSERT_TRUE(hops) << hops.error().message;
  EXPECT_THAT(hops->values(), ::testing::ElementsAre(0, 1, 2, kNoHops));
  EXPECT_EQ(hops->id(3), 9U);
}

// On one node, nothing but the conversion itself notices the cancellation.
TEST(CancelledConversion, EndsWithAnErrorAndLeavesNoFile) {
  const ScratchFolder folder;
  const Ends ends = CompleteGraph(300);
  std::ofstream(folder / "edges.txt") << "1 2\n2 3\n";
  int asked = 0;
  const auto in_the_middle = [&asked] { return ++asked > 1; };
  const EdgeArrays edges{.src = ends.src, .dst = ends.dst, .cancelled = in_the_middle};
  const Status written = WriteSlimFile(edges, folder / "g.slim");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cancelled"));
  EXPECT_FALSE(std::filesystem::exists(folder / "g.slim"));
  for (const bool from_file : {false, true}) {
    Session session = OpenNodes(1, 1);
    session.Cancel();
    const auto graph = from_file ? Graph::Open(session, folder / "edges.txt", {.directed = false})
                                 : Graph::FromEdges(session, {ends.src, ends.dst});
    ASSERT_FALSE(graph);
    EXPECT_THAT(graph.error().message, HasSubstr("cancelled"));
  }
}

class Watched : public ::testing::TestWithParam<NodeId> {
 protected:
  // Makes a call on another thread and returns all that Progress() has said meanwhile.
  template <typename Call>
  std::vector<double> SharesDuring(Session& session, Call call) {
    std::atomic<bool> over{false};
    std::thread caller([&] {
      const auto result = call();
      EXPECT_TRUE(result) << result.error().message;
      over = true;
    });
    std::vector<double> shares;
    while (!over) {
      const auto share = session.Progress();
      if (share && (shares.empty() || shares.back() != *share)) shares.push_back(*share);
      SleepFor(std::chrono::microseconds(100));
    }
    caller.join();
    return shares;
  }
};

void ExpectGrowth(const std::vector<double>& shares) {
  EXPECT_GE(shares.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  for (const double share : shares) EXPECT_TRUE(share >= 0 && share <= 1) << share;
}

TEST_P(Watched, CallsWhoseEndIsKnownSayHowMuchIsDone) {
  Session session = OpenNodes(GetParam(), 1);
  const Ends ends = CompleteGraph(300);
  auto graph = Graph::FromEdges(session, {ends.src, ends.dst});
  ASSERT_TRUE(graph) << graph.error().message;
  // The lists are loaded, so what follows has no progress of its own before the program runs.
  ASSERT_TRUE(PageRank(*graph));
  ExpectGrowth(SharesDuring(session, [&] { return PageRank(*graph, {.iterations = 1000}); }));
  std::vector<std::uint64_t> sources(100);
  std::iota(sources.begin(), sources.end(), 0);
  ExpectGrowth(SharesDuring(session, [&] { return BetweennessCentrality(*graph, sources); }));
  auto path = Pattern::Make({{0, 1}, {1, 2}, {2, 3}, {3, 4}}, "path");
  ExpectGrowth(SharesDuring(session, [&] { return Count(*graph, *path); }));
  // Nobody can foresee how long this takes, and what the calls before have said is forgotten.
  const auto until_stable = [&] { return PageRank(*graph, {.tolerance = 1e-14}); };
  EXPECT_THAT(SharesDuring(session, until_stable), ::testing::IsEmpty());
  EXPECT_EQ(session.Progress(), std::nullopt);
  EXPECT_TRUE(session.Close());
}

INSTANTIATE_TEST_SUITE_P(Nodes, Watched, ::testing::Values(1, 2));

// So engines of other compute nodes end as well, even if they wait for nobody.
TEST(CancelledJob, IsCancelledOnAllNodes) {
  auto secret = NewSecret();
  auto listener = ListenTcp("127.0.0.1");
  ASSERT_TRUE(secret && listener);
  const std::string hub = fmt::format("127.0.0.1:{}", LocalAddress(listener->get()).port());
  std::unique_ptr<Job> other;
  std::thread joining([&] {
    other =
        *Job::Join({.self = 1, .nodes = 2, .hub_address = hub, .secret = *secret}, OnLoss::kReport);
  });
  JoinConfig config{.self = 0, .nodes = 2};
  config.listener = *std::move(listener);
  config.secret = *secret;
  auto job = Job::Join(std::move(config), OnLoss::kReport);
  joining.join();
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_FALSE(other->cancelled());
  (*job)->Cancel({ErrorKind::kEnvironment, "the test cancels"});
  while (!other->cancelled()) SleepFor(std::chrono::milliseconds(1));
  EXPECT_THAT(other->loss(), HasSubstr("the test cancels"));
}

INSTANTIATE_TEST_SUITE_P(Nodes, Cancelled,
                         ::testing::Values(NodesAndThreads{1, 1}, NodesAndThreads{1, 2},
                                           NodesAndThreads{4, 2}));

TEST(PageRankLimit, TooFewIterationsForTheToleranceAreAnErrorAndTheSessionGoesOn) {
  Session session = OpenNodes(2, 1);
  const Ends ends = CompleteGraph(5);
  std::vector<std::uint64_t> src = ends.src;
  std::vector<std::uint64_t> dst = ends.dst;
  src.push_back(4);
  dst.push_back(7);
  auto graph = Graph::FromEdges(session, {src, dst});
  ASSERT_TRUE(graph) << graph.error().message;
  const auto few = PageRank(*graph, {.tolerance = 1e-9, .most_iterations = 2});
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("after 2 iterations the ranks still change by"));
  EXPECT_TRUE(PageRank(*graph, {.tolerance = 1e-9, .most_iterations = 200}));
}

}  // namespace
}  // namespace slimgraph::test
