// Views of graphs: made once, when a job first needs them, and kept while there is room.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "slimgraph/pool/attach.h"
#include "slimgraph/pool/internal/open_pool.h"
#include "tests/pool/programs.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> ViewsOn(const std::string& pool, NodeId node) {
  std::vector<std::string> views;
  const auto view = Unwrap(ViewPool(pool));
  for (const KeptGraphStatus& graph : view.nodes[node].status.value().graphs) {
    if (!graph.view.empty() && graph.ready) views.push_back(graph.view);
  }
  return views;
}

Result<std::vector<std::string>> RunOn(const std::string& view) {
  return RunJob("p", "g", 1, kJobCommand, view);
}

class Views : public Pools {
 protected:
  // The loaders of the view "wait" that have begun.
  std::size_t Begun() const {
    std::size_t begun = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      begun += entry.path().string().find(".begun.") != std::string::npos ? 1 : 0;
    }
    return begun;
  }
  void AwaitBegun(std::size_t loaders) const {
    while (Begun() < loaders) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Go() const { WriteGraph(File("g.words.go"), ""); }
};

TEST_F(Views, AreMadeOnceForAllWhoNeedThem) {
  Start("p", 3);
  Unwrap(Load("p", "g", "5000"));
  std::vector<std::thread> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.emplace_back([] {
      const auto texts = RunOn("wait");
      ASSERT_TRUE(texts) << texts.error().message;
      EXPECT_THAT(*texts, ElementsAre("g wait 5000 of 3: 0, 5000", "g wait 5000 of 3: 1, 5000",
                                      "g wait 5000 of 3: 2, 5000"));
    });
  }
  AwaitBegun(3);
  Go();
  for (std::thread& job : jobs) job.join();
  Unwrap(RunOn("wait"));
  EXPECT_EQ(Begun(), 3);
  EXPECT_THAT(Unwrap(RunOn("")),
              ElementsAre("g 5000 of 3: 0, 5000", "g 5000 of 3: 1, 5000", "g 5000 of 3: 2, 5000"));
  EXPECT_THAT(ViewsOn("p", 1), ElementsAre("wait"));
}

// Whoever waited for the view then makes it.
TEST_F(Views, AreMadeByTheNextIfTheirMakerIsKilled) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  const pid_t maker = Fork([] { static_cast<void>(RunOn("wait")); });
  AwaitBegun(2);
  std::thread next([] {
    const auto texts = RunOn("wait");
    ASSERT_TRUE(texts) << texts.error().message;
    EXPECT_EQ((*texts)[1], "g wait 100 of 2: 1, 100");
  });
  ::kill(maker, SIGKILL);
  ::waitpid(maker, nullptr, 0);
  AwaitBegun(4);
  Go();
  next.join();
  EXPECT_TRUE(AwaitProcesses(2));
}

TEST_F(Views, DoNotWaitForAMakerThatIsStopped) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  const pid_t maker = Fork([] { static_cast<void>(RunOn("wait")); });
  AwaitBegun(2);
  ::kill(maker, SIGSTOP);
  Go();
  EXPECT_TRUE(RunOn("wait"));
  EXPECT_EQ(Begun(), 2);
  ::kill(maker, SIGKILL);
  ::waitpid(maker, nullptr, 0);
}

TEST_F(Views, AreGoneWithTheirGraph) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  Unwrap(Load("p", "g2", "100"));
  Unwrap(RunOn("a"));
  Unwrap(RunOn("b"));
  Unwrap(RunJob("p", "g2", 1, kJobCommand, "c"));
  EXPECT_THAT(ViewsOn("p", 0), ElementsAre("a", "b", "c"));
  Unwrap(DropFromPool("p", "g"));
  EXPECT_THAT(ViewsOn("p", 0), ElementsAre("c"));
  EXPECT_THAT(MessageOf(RunOn("a")), HasSubstr("has no graph 'g'"));
  Unwrap(Load("p", "g", "200"));
  EXPECT_EQ(Unwrap(RunOn("a"))[0], "g a 200 of 2: 0, 200");
}

// A graph that is dropped while a view of it is made.
TEST_F(Views, AreNotKeptWithoutTheirGraph) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  std::thread maker([] { EXPECT_THAT(MessageOf(RunOn("wait")), HasSubstr("dropped")); });
  AwaitBegun(2);
  Unwrap(DropFromPool("p", "g"));
  Go();
  maker.join();
  for (const PoolNodeView& node : Unwrap(ViewPool("p")).nodes) {
    EXPECT_THAT(node.status->graphs, IsEmpty());
  }
}

TEST_F(Views, ThatCannotBeMadeLeaveNothing) {
  Start("p", 2, 1000);
  Unwrap(Load("p", "g", "600"));
  EXPECT_THAT(MessageOf(RunOn("fail")), HasSubstr("fails on node"));
  EXPECT_THAT(MessageOf(RunOn("large")), HasSubstr("view 'large' of graph 'g' needs 600 B"));
  EXPECT_THAT(ViewsOn("p", 0), IsEmpty());
  EXPECT_TRUE(RunOn(""));
  EXPECT_TRUE(AwaitProcesses(2));
}

TEST_F(Views, AreNotMadeOfAFileThatHasChanged) {
  Start("p", 1);
  Unwrap(Load("p", "g", "100"));
  WriteGraph(File("g.words"), "200");
  EXPECT_THAT(MessageOf(RunOn("a")), HasSubstr("has changed since graph 'g' was loaded"));
  EXPECT_THAT(ViewsOn("p", 0), IsEmpty());
  EXPECT_TRUE(RunOn(""));
}

TEST_F(Views, GiveWayIfNobodyUsesThem) {
  const PoolDescriptor pool = Start("p", 1, 450);
  Unwrap(Load("p", "g", "100"));
  Unwrap(RunOn("a"));
  Unwrap(RunOn("b"));
  Unwrap(RunOn("c"));
  Unwrap(RunOn("a"));
  Unwrap(RunOn("d"));  // in the place of b, which was not used for longest
  EXPECT_THAT(ViewsOn("p", 0), ElementsAre("a", "c", "d"));
  {
    auto client = Unwrap(internal::Conversation::Open(pool, 0));
    Unwrap(client.Ask({"view", "g", "c"}));  // uses c as long as it is connected
    Unwrap(RunOn("a"));
    Unwrap(RunOn("d"));
    Unwrap(RunOn("e"));
    EXPECT_THAT(ViewsOn("p", 0), ElementsAre("c", "d", "e"));
    // A graph takes the place of views, too, but not of those in use.
    EXPECT_THAT(MessageOf(Load("p", "h", "300")), HasSubstr("--memory"));
    EXPECT_THAT(ViewsOn("p", 0), ElementsAre("c"));
  }
  while (!Load("p", "i", "300")) std::this_thread::yield();
  EXPECT_THAT(ViewsOn("p", 0), IsEmpty());
  EXPECT_TRUE(RunOn(""));
}

TEST_F(Views, ComeBackWithTheirNode) {
  const PoolDescriptor pool = Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  Unwrap(RunOn("a"));
  ::kill(pool.nodes[1].process, SIGKILL);
  ASSERT_TRUE(AwaitProcesses(1));
  EXPECT_THAT(Unwrap(StartPool({.name = "p"})).reloaded, ElementsAre("g"));
  EXPECT_THAT(ViewsOn("p", 1), ElementsAre("a"));
  EXPECT_EQ(Unwrap(RunOn("a"))[1], "g a 100 of 2: 1, 100");
}

TEST_F(Views, AreMadeAtOnceIfTheLoadSaysSo) {
  Start("p", 2);
  WriteGraph(File("g.words"), "100");
  Unwrap(LoadIntoPool({.pool = "p", .graph = "g", .file = File("g.words"), .views = {"a", "b"}}));
  EXPECT_THAT(ViewsOn("p", 1), ElementsAre("a", "b"));
  EXPECT_THAT(MessageOf(LoadIntoPool(
                  {.pool = "p", .graph = "h", .file = File("g.words"), .views = {"fail"}})),
              HasSubstr("fails on node"));
  EXPECT_EQ(Unwrap(ViewPool("p")).nodes[0].status->graphs.size(), 3);
}

}  // namespace
}  // namespace slimgraph::test
