// Pools that keep each part on several nodes, and what becomes of clients that are stopped.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "slimgraph/pool/internal/open_pool.h"
#include "tests/pool/programs.h"

namespace slimgraph::test {
namespace {

using internal::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void Kill(const PoolDescriptor& pool, NodeId node) {
  ASSERT_EQ(::kill(pool.nodes[node].process, SIGKILL), 0);
  while (IsRunning(pool.nodes[node])) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class Copies : public Pools {
 protected:
  PoolDescriptor StartWith(NodeId nodes, NodeId copies) {
    return Unwrap(StartPool({.name = "p", .nodes = nodes, .copies = copies})).pool;
  }
  void ExpectAllParts() {
    for (const NodeId compute : {1U, 2U}) {
      EXPECT_THAT(Unwrap(RunJob("p", "g", compute)),
                  ElementsAre("g 50 of 3: 0, 50", "g 50 of 3: 1, 50", "g 50 of 3: 2, 50"));
    }
    EXPECT_THAT(Unwrap(RunJob("p", "g", 1, kJobCommand, "a")),
                ElementsAre("g a 50 of 3: 0, 50", "g a 50 of 3: 1, 50", "g a 50 of 3: 2, 50"));
  }
};

TEST_F(Copies, TakeThePlaceOfOneNodeThatEnds) {
  for (NodeId dead = 0; dead < 3; ++dead) {
    const PoolDescriptor pool = StartWith(3, 2);
    EXPECT_EQ(Unwrap(Load("p", "g", "50")).bytes, 300);
    ExpectAllParts();
    Kill(pool, dead);
    ExpectAllParts();
    EXPECT_THAT(Load("p", "h", "50").error().message, HasSubstr(fmt::format("node {}", dead)));
    // The other holder of that node's part.
    Kill(pool, (dead + 1) % 3);
    EXPECT_THAT(RunJob("p", "g", 1).error().message,
                HasSubstr(fmt::format("node {} of pool 'p' has ended", dead)));
    Unwrap(StopPool("p", true));  // deputies of the last job may still be about to end
  }
}

TEST_F(Copies, ComeBackWithTheirNode) {
  for (const NodeId copies : {2U, 3U}) {
    PoolDescriptor pool = StartWith(3, copies);
    Unwrap(Load("p", "g", "50"));
    for (NodeId dead = 0; dead < 3; ++dead) {
      Kill(pool, dead);
      pool = Unwrap(StartPool({.name = "p"})).pool;
      EXPECT_EQ(pool.copies, copies);
    }
    for (NodeId dead = 1; dead < copies; ++dead) Kill(pool, dead);
    ExpectAllParts();
    Unwrap(StopPool("p", true));  // deputies of the last job may still be about to end
  }
}

TEST_F(Copies, CannotBeMoreThanNodes) {
  EXPECT_THAT(StartPool({.name = "p", .nodes = 3, .copies = 4}).error().message,
              HasSubstr("give 1 to 3, the number of nodes"));
  EXPECT_THAT(StartPool({.name = "p", .nodes = 3, .copies = 0}).error().message,
              HasSubstr("give 1 to 3"));
  StartWith(3, 2);
  EXPECT_THAT(StartPool({.name = "p", .copies = 3}).error().message,
              HasSubstr("runs with --copies 2: stop it first"));
}

// Three clients hold a graph that is not kept yet: one is stopped, one waits for a slow node, and
// one says from time to time that it is there.
TEST_F(Pools, ForgetWhatAStoppedClientHolds) {
  const PoolDescriptor pool = Start("p", 2);
  const auto load = [&](const std::string& graph) {
    auto node = Unwrap(Conversation::Open(pool, 0));
    WriteGraph(File(graph), "70");
    Unwrap(node.Ask({"load", graph, "id", File(graph), File(graph)}));
    return node;
  };
  const pid_t stopped = Fork([&] {
    const auto node = load("stopped");
    ::raise(SIGSTOP);
  });
  std::thread patient([&] {
    const auto loaded = Load("p", "slow", "slow");
    EXPECT_TRUE(loaded) << loaded.error().message;
  });
  auto node = load("held");
  const auto names = [&] {
    std::vector<std::string> all;
    const PoolView view = Unwrap(ViewPool("p"));
    for (const KeptGraphStatus& graph : view.nodes[0].status->graphs) all.push_back(graph.name);
    return all;
  };
  const auto has = [&](const std::string& name) {
    const auto all = names();
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  while (!has("stopped")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto start = std::chrono::steady_clock::now();
  const auto lease = std::chrono::nanoseconds(internal::kLeaseNs);
  while (std::chrono::steady_clock::now() < start + lease + internal::kRenewal) {
    Unwrap(node.Send({"here"}));
    std::this_thread::sleep_for(internal::kRenewal);
  }
  for (int i = 0; i < 100 && has("stopped"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(has("stopped"));
  Unwrap(node.Ask({"keep"}));
  WriteGraph(File("slow.words.go"), "");
  patient.join();
  EXPECT_THAT(names(), ElementsAre("held", "slow"));
  ::kill(stopped, SIGKILL);
  ::waitpid(stopped, nullptr, 0);
}

}  // namespace
}  // namespace slimgraph::test
