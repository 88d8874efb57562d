// Pools as their clients see them: started, filled, used, shown and stopped.
#include "slimgraph/pool/pool.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "slimgraph/pool/attach.h"
#include "tests/pool/programs.h"

namespace slimgraph::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<PoolNodeStatus> StatusOf(const std::string& pool) {
  std::vector<PoolNodeStatus> all;
  for (const PoolNodeView& node : Unwrap(ViewPool(pool)).nodes) all.push_back(node.status.value());
  return all;
}

TEST_F(Pools, StartAnswerAndStop) {
  const PoolDescriptor pool = Start("p", 3, 1 << 20);
  ASSERT_EQ(pool.nodes.size(), 3);
  const auto status = StatusOf("p");
  for (NodeId node = 0; node < 3; ++node) {
    EXPECT_EQ(status[node].process, pool.nodes[node].process);
    EXPECT_EQ(status[node].memory_bytes, 1 << 20);
    EXPECT_TRUE(status[node].graphs.empty() && status[node].jobs.empty());
  }
  struct stat info;
  ASSERT_EQ(::stat(DescriptorPath(File("pools"), "p").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  ASSERT_EQ(::stat(File("pools").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700);
  const auto pools = Unwrap(ListPools());
  ASSERT_EQ(pools.size(), 1);
  EXPECT_EQ(pools[0].running, 3);
  Unwrap(StopPool("p", false));
  EXPECT_TRUE(Processes().empty());
  EXPECT_TRUE(Unwrap(ListPools()).empty());
  EXPECT_THAT(ViewPool("p").error().message, HasSubstr("there is no pool 'p'"));
}

TEST_F(Pools, StartOnceForTwoWhoStartThemAtOnce) {
  std::vector<std::thread> threads;
  std::vector<Result<PoolStarted>> started(4, PoolStarted{});
  for (auto& one : started) {
    threads.emplace_back([&one] { one = StartPool({.name = "p", .nodes = 2}); });
  }
  for (std::thread& thread : threads) thread.join();
  NodeId nodes = 0;
  for (const auto& one : started) {
    ASSERT_TRUE(one) << one.error().message;
    nodes += one->started;
  }
  EXPECT_EQ(nodes, 2);
  EXPECT_EQ(Processes().size(), 2);
}

TEST_F(Pools, RefuseOtherSizesAndNames) {
  Start("p", 2);
  EXPECT_THAT(StartPool({.name = "p", .nodes = 3}).error().message, HasSubstr("runs on 2 nodes"));
  EXPECT_THAT(StartPool({.name = "p", .memory_bytes = 5}).error().message,
              HasSubstr("stop it first"));
  EXPECT_THAT(StartPool({.name = "p", .job_memory_bytes = 5}).error().message,
              HasSubstr("runs with --job-memory 0: stop it first, to start it with 5"));
  EXPECT_THAT(StartPool({.name = "p", .job_bytes_per_s = 5}).error().message,
              HasSubstr("runs with --job-bandwidth 0: stop it first"));
  EXPECT_THAT(StartPool({.name = "q"}).error().message, HasSubstr("give --nodes"));
  for (const char* const name : {"", "a/b", "..", "a b", "-n"}) {
    EXPECT_THAT(StartPool({.name = name, .nodes = 1}).error().message, HasSubstr("is no name"));
  }
}

TEST_F(Pools, GiveEachNodeOfAJobItsPart) {
  Start("p", 3);
  const auto loaded = Load("p", "g", "5000");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->bytes, 15000);
  for (const NodeId compute : {1U, 3U}) {
    const auto texts = RunJob("p", "g", compute);
    ASSERT_TRUE(texts) << texts.error().message;
    EXPECT_THAT(*texts, ElementsAre("g 5000 of 3: 0, 5000", "g 5000 of 3: 1, 5000",
                                    "g 5000 of 3: 2, 5000"));
  }
  EXPECT_TRUE(AwaitProcesses(3));
  for (const auto& node : StatusOf("p")) {
    EXPECT_TRUE(node.jobs.empty());
    EXPECT_EQ(node.used_bytes, 5000);
  }
}

TEST_F(Pools, TellAllNodesOfAJobItsQuota) {
  const PoolDescriptor pool = Unwrap(StartPool({.name = "p",
                                                .nodes = 2,
                                                .job_memory_bytes = 4'000'000'000,
                                                .job_bytes_per_s = 1001}))
                                  .pool;
  Unwrap(Load("p", "g", "5000"));
  EXPECT_THAT(Unwrap(RunJob("p", "g", 1)),
              ElementsAre("g 5000 of 2: 0, 5000; from 1 on 4000000000 and 1001/s",
                          "g 5000 of 2: 1, 5000; from 1 on 4000000000 and 1001/s"));
  EXPECT_THAT(Unwrap(RunJob("p", "g", 3))[1], HasSubstr("; from 3 on 4000000000 and 334/s"));
  // A pool that is started again keeps it.
  for (const PoolNodeAddress& node : pool.nodes) ::kill(node.process, SIGKILL);
  ASSERT_TRUE(AwaitProcesses(0));
  Unwrap(StartPool({.name = "p"}));
  Unwrap(Load("p", "g", "5000"));
  EXPECT_THAT(Unwrap(RunJob("p", "g", 2))[0], HasSubstr("; from 2 on 4000000000 and 501/s"));
}

TEST_F(Pools, GiveSeveralJobsTheirParts) {
  Start("p", 2);
  Unwrap(Load("p", "g", "5000"));
  Unwrap(Load("p", "h", "6000"));
  std::vector<std::thread> jobs;
  for (int i = 0; i < 6; ++i) {
    jobs.emplace_back([i] {
      const auto texts = RunJob("p", i % 2 == 0 ? "g" : "h", 1);
      ASSERT_TRUE(texts) << texts.error().message;
      EXPECT_EQ((*texts)[1], i % 2 == 0 ? "g 5000 of 2: 1, 5000" : "h 6000 of 2: 1, 6000");
    });
  }
  for (std::thread& job : jobs) job.join();
}

TEST_F(Pools, LoadOnAllNodesOrNone) {
  Start("p", 2, 10000);
  EXPECT_THAT(Load("p", "bad", "fail").error().message, HasSubstr("bad.words: fails on node"));
  EXPECT_THAT(Load("p", "bad", "die").error().message, HasSubstr("signal 9"));
  EXPECT_THAT(LoadIntoPool({.pool = "p", .graph = "g", .file = File("none")}).error().message,
              HasSubstr("No such file"));
  EXPECT_THAT(LoadIntoPool({.pool = "p", .graph = "a.b", .file = File("x")}).error().message,
              HasSubstr("is no name for a graph"));
  Unwrap(Load("p", "g", "6000"));
  EXPECT_THAT(Load("p", "g", "10").error().message, HasSubstr("has a graph 'g' already"));
  EXPECT_THAT(Load("p", "h", "6000").error().message, HasSubstr("--memory"));
  for (const auto& node : StatusOf("p")) {
    ASSERT_EQ(node.graphs.size(), 1);
    EXPECT_EQ(node.graphs[0].name, "g");
  }
  Unwrap(DropFromPool("p", "g"));
  Unwrap(Load("p", "h", "6000"));
  EXPECT_THAT(DropFromPool("p", "g").error().message, HasSubstr("has no graph 'g': it has h"));
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("has no graph 'g'"));
  EXPECT_EQ(Processes().size(), 2);
}

TEST_F(Pools, KeepADroppedGraphForTheJobsThatUseIt) {
  Start("p", 2, 10000);
  Unwrap(Load("p", "g", "6000"));
  auto attachment = Unwrap(Attachment::Make({.pool = "p", .graph = "g", .words = {kJobCommand}}));
  Unwrap(DropFromPool("p", "g"));
  EXPECT_THAT(Load("p", "h", "6000").error().message, HasSubstr("--memory"));
  {
    const auto job = Unwrap(Job::Join(attachment->TakeConfig(), OnLoss::kReport));
    EXPECT_EQ(Unwrap(job->Exchange(""))[2], "g 6000 of 2: 1, 6000");
    Unwrap(job->Leave(0));
  }
  attachment.reset();
  ASSERT_TRUE(AwaitProcesses(2));
  while (StatusOf("p")[0].used_bytes + StatusOf("p")[1].used_bytes > 0) std::this_thread::yield();
  Unwrap(Load("p", "h", "6000"));
}

TEST_F(Pools, ShowWhoIsAttached) {
  Start("p", 2);
  Unwrap(Load("p", "g", "100"));
  const auto attachment =
      Unwrap(Attachment::Make({.pool = "p", .graph = "g", .words = {kDeafJobCommand, "x"}}));
  for (const auto& node : StatusOf("p")) {
    ASSERT_EQ(node.jobs.size(), 1);
    EXPECT_EQ(node.jobs[0].command, "deaf-job x");
    EXPECT_EQ(node.jobs[0].client, fmt::format("{}", ::getpid()));
    EXPECT_EQ(::kill(node.jobs[0].deputy, 0), 0);
  }
  const auto refused = StopPool("p", false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("1 job is attached"));
  Unwrap(Load("p", "h", "100"));  // the pool goes on
  Unwrap(StopPool("p", true));
  EXPECT_TRUE(AwaitProcesses(0));
}

}  // namespace
}  // namespace slimgraph::test
