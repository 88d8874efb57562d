// Pools whose nodes are started on several hosts, with a program in place of ssh. All hosts are
// this machine; tests/hosts has some that are not.
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

constexpr const char* kFakeSsh = R"sh(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in
  127.0.0.6) exec sh -c "$2; echo and more" ;;
  127.0.0.7) sed 's/^0[.].*/0.0.1/' | sh -c "$2" ;;
  127.0.0.8) sleep 0.1; echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255 ;;
  *) echo welcome; exec sh -c "$2" ;;
esac
)sh";

class PoolsOnHosts : public Pools {
 protected:
  PoolsOnHosts() {
    WriteText(File("ssh"), kFakeSsh);
    std::filesystem::permissions(File("ssh"), std::filesystem::perms(0755));
    ::setenv("HYDRA_LAUNCHER_EXEC", File("ssh").c_str(), 1);
  }
  ~PoolsOnHosts() override { ::unsetenv("HYDRA_LAUNCHER_EXEC"); }

  PoolDescriptor StartThree() {
    return Unwrap(StartPool({.name = "p", .nodes = 3, .hosts = {"127.0.0.2", "127.0.0.3"}})).pool;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(File("pools"))) {
      names.push_back(one.path().filename());
    }
    return names;
  }
};

TEST_F(PoolsOnHosts, StartInTurnAndLeaveNothing) {
  const PoolDescriptor pool = StartThree();
  const char* const hosts[] = {"127.0.0.2", "127.0.0.3", "127.0.0.2"};
  for (NodeId node = 0; node < 3; ++node) {
    EXPECT_EQ(pool.nodes[node].host, hosts[node]);
    EXPECT_TRUE(pool.nodes[node].address.starts_with(std::string(hosts[node]) + ":"));
  }
  EXPECT_THAT(Files(), ::testing::UnorderedElementsAre("p.json", "p.log", "p.node0.log",
                                                       "p.node1.log", "p.node2.log"));
  Unwrap(Load("p", "g", "5000"));
  for (const NodeId compute : {1U, 2U}) {
    EXPECT_THAT(
        Unwrap(RunJob("p", "g", compute)),
        ElementsAre("g 5000 of 3: 0, 5000", "g 5000 of 3: 1, 5000", "g 5000 of 3: 2, 5000"));
  }
  EXPECT_THAT(StartPool({.name = "p", .hosts = {"127.0.0.2", "127.0.0.9"}}).error().message,
              HasSubstr("runs on other hosts"));
  Unwrap(StopPool("p", true));  // deputies of the last job may still be about to end
  EXPECT_TRUE(Files().empty());
  EXPECT_TRUE(AwaitProcesses(0));
}

TEST_F(PoolsOnHosts, StartAgainWhereTheyWere) {
  const PoolDescriptor before = StartThree();
  Unwrap(Load("p", "g", "5000"));
  ASSERT_EQ(::kill(before.nodes[1].process, SIGKILL), 0);
  ASSERT_TRUE(AwaitProcesses(2));
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("node 1 of pool 'p' has ended"));
  const PoolStarted again = Unwrap(StartPool({.name = "p"}));
  EXPECT_EQ(again.started, 1);
  EXPECT_EQ(again.pool.nodes[1].host, "127.0.0.3");
  EXPECT_EQ(again.pool.nodes[0].process, before.nodes[0].process);
  EXPECT_THAT(again.reloaded, ElementsAre("g"));
  EXPECT_EQ(Unwrap(RunJob("p", "g", 1))[1], "g 5000 of 3: 1, 5000");
  for (const PoolNodeAddress& node : again.pool.nodes) ::kill(node.process, SIGKILL);
  ASSERT_TRUE(AwaitProcesses(0));
  const PoolDescriptor anew = Unwrap(StartPool({.name = "p"})).pool;
  EXPECT_EQ(anew.nodes[1].host, "127.0.0.3");
}

TEST_F(PoolsOnHosts, RunNoNodeIfOneHostFails) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.6", "there does not start nodes of pools"},
      {"127.0.0.7", "install the same on all hosts"},
      {"127.0.0.8", "host 127.0.0.8: ssh: connect to host 127.0.0.8 port 22: No route to host"}};
  for (const auto& [host, why] : cases) {
    const auto started = StartPool({.name = "p", .hosts = {"127.0.0.2", "127.0.0.3", host}});
    ASSERT_FALSE(started) << host;
    EXPECT_EQ(started.error().exit_code(), 4);
    EXPECT_THAT(started.error().message, HasSubstr(why));
    EXPECT_THAT(ViewPool("p").error().message, HasSubstr("there is no pool 'p'"));
    // Nobody knows where the node runs of a host that has not said it.
    EXPECT_TRUE(AwaitProcesses(host == std::string("127.0.0.6") ? 1 : 0)) << host;
    for (const pid_t process : Processes()) ::kill(process, SIGKILL);
    ASSERT_TRUE(AwaitProcesses(0));
  }
}

TEST_F(PoolsOnHosts, RefuseFilesThatDiffer) {
  StartThree();
  EXPECT_THAT(Load("p", "g", "differs").error().message,
              HasSubstr("g.words: is not the same for all nodes"));
  EXPECT_THAT(RunJob("p", "g", 1).error().message, HasSubstr("has no graph 'g'"));
}

TEST_F(PoolsOnHosts, AreNotMistakenForThoseOfAnotherMachine) {
  PoolDescriptor pool = Start("p", 1);
  pool.host_name = "elsewhere";
  Unwrap(WriteDescriptor(pool));
  EXPECT_THAT(ViewPool("p").error().message, HasSubstr("is on host elsewhere alone"));
  EXPECT_THAT(StartPool({.name = "p"}).error().message, HasSubstr("is on host elsewhere alone"));
  pool.host_name = HostName();
  Unwrap(WriteDescriptor(pool));
  Unwrap(StopPool("p", false));
  // Another machine may have a process of the same number.
  pool = StartThree();
  for (PoolNodeAddress& node : pool.nodes) node.machine = "another";
  pool.nodes[1].address = "127.0.0.3:9";
  EXPECT_TRUE(IsRunning(pool.nodes[0]));
  EXPECT_FALSE(IsRunning(pool.nodes[1]));
  Unwrap(WriteDescriptor(pool));
  EXPECT_THAT(RunJob("p", "g", 1).error().message,
              HasSubstr("if it has ended, 'slimgraph pool start p' starts it again"));
}

}  // namespace
}  // namespace slimgraph::test
