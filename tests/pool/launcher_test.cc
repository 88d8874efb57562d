// Pools whose nodes a launcher starts.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "slimgraph/launch/hosts.h"
#include "slimgraph/pool/attach.h"
#include "tests/pool/programs.h"

namespace slimgraph::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Starts what follows the number, so often. A second script leaves the processes alone.
constexpr const char* kLauncher = R"sh(#!/bin/sh
count=$1; shift
while [ $count -gt 0 ]; do "$@" & count=$((count - 1)); done
)sh";

class LaunchedPools : public Pools {
 protected:
  LaunchedPools() {
    WriteText(File("stays"), std::string(kLauncher) + "wait\n");
    WriteText(File("leaves"), kLauncher);
    for (const char* const name : {"stays", "leaves"}) {
      std::filesystem::permissions(File(name), std::filesystem::perms(0755));
    }
  }
  std::string Launcher(const std::string& name) const { return File(name) + " {nodes}"; }
};

TEST_F(LaunchedPools, ServeJobsAndLeaveNothing) {
  for (const char* const name : {"stays", "leaves"}) {
    const PoolStarted started =
        Unwrap(StartPool({.name = "p", .nodes = 3, .launcher = Launcher(name)}));
    EXPECT_EQ(started.started, 3);
    for (const PoolNodeAddress& node : started.pool.nodes) {
      EXPECT_EQ(node.host, HostName());
      EXPECT_EQ(StartOfProcess(node.process), node.started);
    }
    Unwrap(Load("p", "g", "5000"));
    for (const NodeId compute : {1U, 2U}) {
      EXPECT_THAT(
          Unwrap(RunJob("p", "g", compute)),
          ElementsAre("g 5000 of 3: 0, 5000", "g 5000 of 3: 1, 5000", "g 5000 of 3: 2, 5000"));
    }
    Unwrap(StopPool("p", true));
    EXPECT_TRUE(AwaitProcesses(0));
  }
}

TEST_F(LaunchedPools, StartAgainByTheSameLauncher) {
  const PoolDescriptor before =
      Unwrap(StartPool({.name = "p", .nodes = 3, .launcher = Launcher("stays")})).pool;
  Unwrap(Load("p", "g", "5000"));
  ASSERT_EQ(::kill(before.nodes[1].process, SIGKILL), 0);
  while (IsRunning(before.nodes[1])) ::usleep(1000);
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("node 1 of pool 'p' has ended"));
  const PoolStarted again = Unwrap(StartPool({.name = "p"}));
  EXPECT_EQ(again.started, 1);
  EXPECT_EQ(again.pool.nodes[0].process, before.nodes[0].process);
  EXPECT_THAT(again.reloaded, ElementsAre("g"));
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1))[1], "g 5000 of 3: 1, 5000");
  EXPECT_THAT(StartPool({.name = "p", .launcher = "other {nodes}"}).error().message,
              HasSubstr("by another launcher"));
  // A stopped node that does not answer.
  ASSERT_EQ(::kill(again.pool.nodes[1].process, SIGSTOP), 0);
  Unwrap(StopPool("p", true));
  EXPECT_TRUE(AwaitProcesses(0));
}

TEST_F(LaunchedPools, TellTheLauncherWhichHostsHaveNodes) {
  const std::string told = File("told");
  const PoolDescriptor pool =
      Unwrap(StartPool({.name = "p",
                        .nodes = 3,
                        .launcher = "echo 'taken: {taken}' >>" + told + "; " + Launcher("stays")}))
          .pool;
  ASSERT_EQ(::kill(pool.nodes[1].process, SIGKILL), 0);
  while (IsRunning(pool.nodes[1])) ::usleep(1000);
  EXPECT_EQ(Unwrap(StartPool({.name = "p"})).started, 1);
  Unwrap(StopPool("p", true));
  EXPECT_EQ(ReadText(told), "taken: \ntaken: " + HostName() + "\n");
  EXPECT_TRUE(AwaitProcesses(0));
}

TEST_F(LaunchedPools, NamesHostsAsSlurmDoes) {
  const PoolStarted started = Unwrap(
      StartPool({.name = "p", .nodes = 2, .launcher = "SLURMD_NODENAME=n7 " + Launcher("stays")}));
  EXPECT_EQ(started.pool.nodes[1].host, "n7");
  Unwrap(StopPool("p", true));
  EXPECT_TRUE(AwaitProcesses(0));
}

TEST_F(LaunchedPools, SayWhatIsWrongWithALauncher) {
  const std::pair<std::string, const char*> cases[] = {
      {"srun -n 3", "has no {nodes}"},
      {"exit 7; : {nodes}", "ended with exit code 7"},
      {"echo no such partition >&2; false {nodes}", "ended with exit code 1"},
      {File("leaves") + " $(({nodes} - 1))", "has started 2 of 3 nodes"},
  };
  for (const auto& [launcher, expected] : cases) {
    SCOPED_TRACE(launcher);
    const auto started = StartPool({.name = "p", .nodes = 3, .launcher = launcher});
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr(expected));
    EXPECT_TRUE(AwaitProcesses(0));
    EXPECT_FALSE(std::filesystem::exists(File("pools/p.json")));
  }
  // What the launcher has said is in the log.
  EXPECT_THAT(ReadText(File("pools/p.log")), HasSubstr("no such partition"));
}

}  // namespace
}  // namespace slimgraph::test
