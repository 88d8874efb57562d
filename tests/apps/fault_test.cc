// What a job does when one of its nodes, or the command itself, is stopped or killed.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "tests/support/command.h"
#include "tests/support/node_processes.h"
#include "tests/support/segments.h"

namespace slimgraph {
namespace {

struct Fault {
  int signal;
  int victim;
  const char* transport;
};

std::string NameOf(const ::testing::TestParamInfo<Fault>& info) {
  const char* const signal = info.param.signal == SIGKILL   ? "Kill"
                             : info.param.signal == SIGSTOP ? "Stop"
                                                            : "Segv";
  return signal + std::string("Node") + std::to_string(info.param.victim) + info.param.transport;
}

class FaultyJob : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = scratch_.File("kron.slim");
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "12", "-o", graph_}).code, 0);
  }

  // A job that would run for hours, so that a fault hits it while it works.
  std::vector<std::string> LongScan(const std::string& transport) const {
    return {CommandPath(), "scan",      graph_, "--repeat",    "1000000000", "--nodes",
            "4",           "--compute", "2",    "--transport", transport};
  }

  // Waits until the job has formed. Returns the process of a node.
  static pid_t AwaitNode(const RunningCommand& command, int number) {
    const bool formed = command.AwaitError(" takes ");
    EXPECT_TRUE(formed);
    return formed ? command.NodeProcess(number).value_or(-1) : -1;
  }

  ScratchDirectory scratch_;
  std::string graph_;
};

// Processor time in clock ticks, or -1 when the process has ended.
long UsedTicks(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  for (int field = 1; field <= 14; ++field) {
    if (!(stat >> word)) return -1;
  }
  return std::stol(word);
}

// Waits until the process has used so much processor time. Loading a small graph takes less than
// half a second.
void AwaitWork(pid_t process, double seconds = .5) {
  const long before = UsedTicks(process);
  const long enough = before + std::lround(seconds * static_cast<double>(::sysconf(_SC_CLK_TCK)));
  for (long used = before; used < enough; used = UsedTicks(process)) {
    ASSERT_GE(used, 0) << "it has ended";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ExpectOneLineOf(int node, RunningCommand& command) {
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  const std::string line = "slimgraph: node " + std::to_string(node) + ": ";
  std::size_t named = 0;
  for (std::size_t at = end.err.find(line); at != std::string::npos;
       at = end.err.find(line, at + 1)) {
    ++named;
  }
  EXPECT_EQ(named, 1U) << end.err;
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(end.err.find(" waits "), std::string::npos) << end.err;
  EXPECT_TRUE(command.Processes().empty());
}

void ExpectOneLine(RunningCommand& command, pid_t victim, const Fault& fault) {
  ASSERT_EQ(::kill(victim, fault.signal), 0);
  ExpectOneLineOf(fault.victim, command);
}

class FaultyNode : public FaultyJob, public ::testing::WithParamInterface<Fault> {};

INSTANTIATE_TEST_SUITE_P(Faults, FaultyNode,
                         ::testing::Values(Fault{SIGKILL, 0, "shm"}, Fault{SIGKILL, 1, "shm"},
                                           Fault{SIGKILL, 3, "shm"}, Fault{SIGSEGV, 2, "shm"},
                                           Fault{SIGSTOP, 0, "shm"}, Fault{SIGSTOP, 3, "shm"},
                                           Fault{SIGKILL, 0, "tcp"}, Fault{SIGKILL, 3, "tcp"},
                                           Fault{SIGKILL, 1, "mpi"}, Fault{SIGKILL, 3, "mpi"}),
                         NameOf);

TEST_P(FaultyNode, EndsTheJobWithOneLineThatNamesIt) {
  const std::set<std::string> segments_before = Segments(GetParam().transport);
  RunningCommand command(LongScan(GetParam().transport));
  const pid_t victim = AwaitNode(command, GetParam().victim);
  ASSERT_GT(victim, 0);
  ExpectOneLine(command, victim, GetParam());
  EXPECT_EQ(SegmentsLeftSince(segments_before, GetParam().transport), "");
}

// When a node dies, hydra may kill the hub before the hub has reported the death.
TEST_F(FaultyJob, NamesTheNodeThatDiedBeforeTheHubWasKilled) {
  RunningCommand command(LongScan("shm"));
  const pid_t victim = AwaitNode(command, 3);
  const pid_t hub = AwaitNode(command, 0);
  ASSERT_GT(std::min(victim, hub), 0);
  ASSERT_EQ(::kill(hub, SIGSTOP), 0);
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  AwaitEnd(victim);
  ::kill(hub, SIGKILL);
  ExpectOneLineOf(3, command);
}

class FaultyMemoryNode : public FaultyJob,
                         public ::testing::WithParamInterface<std::pair<const char*, const char*>> {
};
INSTANTIATE_TEST_SUITE_P(Sides, FaultyMemoryNode,
                         ::testing::Values(std::pair("strict", "shm"), std::pair("serve", "shm"),
                                           std::pair("strict", "tcp"), std::pair("serve", "tcp"),
                                           std::pair("reduce", "shm"), std::pair("reduce", "tcp")),
                         [](const auto& one) {
                           return one.param.first + std::string("Over") + one.param.second;
                         });

TEST_P(FaultyMemoryNode, LeavesNobodyWaitingForItsLists) {
  const auto [side, transport] = GetParam();
  RunningCommand command({CommandPath(), "pagerank", graph_, "--iterations", "1000000000",
                          "--nodes", "4", "--compute", "2", "--threads", "2", "--cache", "none",
                          "--memory-side", side, "--transport", transport});
  const pid_t victim = AwaitNode(command, 3);
  ASSERT_GT(victim, 0);
  AwaitWork(command.NodeProcess(0).value_or(-1));
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("slimgraph: node 3: "), std::string::npos) << end.err;
  EXPECT_TRUE(command.Processes().empty());
}

class FaultyMiner : public FaultyJob, public ::testing::WithParamInterface<Fault> {};

INSTANTIATE_TEST_SUITE_P(Faults, FaultyMiner,
                         ::testing::Values(Fault{SIGKILL, 0, "shm"}, Fault{SIGKILL, 1, "shm"},
                                           Fault{SIGKILL, 3, "shm"}, Fault{SIGSTOP, 1, "shm"},
                                           Fault{SIGKILL, 1, "tcp"}, Fault{SIGKILL, 3, "tcp"},
                                           Fault{SIGKILL, 1, "mpi"}, Fault{SIGKILL, 3, "mpi"}),
                         NameOf);

std::vector<std::string> LongMatch(const std::string& graph, const std::string& transport) {
  return {CommandPath(), "match", graph,       "--pattern", "7-path",      "--edge-cache", "0",
          "--nodes",     "4",     "--compute", "2",         "--transport", transport};
}

TEST_P(FaultyMiner, EndsTheJobInTheMiddleOfTheWork) {
  RunningCommand command(LongMatch(graph_, GetParam().transport));
  const pid_t miner = AwaitNode(command, 1);
  ASSERT_GT(miner, 0);
  AwaitWork(miner);
  const auto victim = command.NodeProcess(GetParam().victim);
  ASSERT_TRUE(victim);
  ExpectOneLine(command, *victim, GetParam());
}

// A job, and the wait that it must report under SLIMGRAPH_LOG=debug when node 1 is stopped.
struct Wait {
  const char* name;
  std::vector<std::string> words;  // GRAPH stands for the graph
  const char* text;
};

class WaitingJob : public FaultyJob,
                   public ::testing::WithParamInterface<std::tuple<Wait, const char*>> {};

INSTANTIATE_TEST_SUITE_P(
    Waits, WaitingJob,
    ::testing::Combine(
        ::testing::Values(Wait{"Exchange",
                               {"pagerank", "GRAPH", "--iterations", "1000000000"},
                               "for the last message of node 1 in exchange "},
                          Wait{"Lists",
                               {"match", "GRAPH", "--pattern", "7-path", "--edge-cache", "0"},
                               "for lists of node 1\n"},
                          Wait{"Transactions",
                               {"txn", "run", "--workload", "ycsb", "--protocol", "occ", "--stages",
                                "rpc", "--hot", "0", "--coroutines", "4", "--seconds", "1000"},
                               "for node 1, in "}),
        ::testing::Values("shm", "tcp", "mpi")),
    [](const auto& one) {
      return std::get<0>(one.param).name + std::string("Over") + std::get<1>(one.param);
    });

TEST_P(WaitingJob, SaysThatItWaitsForAStoppedNode) {
  const auto& [wait, transport] = GetParam();
  std::vector<std::string> words{CommandPath()};
  for (const std::string& word : wait.words) words.push_back(word == "GRAPH" ? graph_ : word);
  for (const char* const word : {"--nodes", "4", "--compute", "2", "--transport", transport}) {
    words.emplace_back(word);
  }
  // The work that a job does before it waits for others differs, above all over MPI, which spins. A
  // stop before that makes the job wait for something else. Then another job is stopped later.
  bool said = false;
  std::string errors;
  for (int later = 1; later <= 5 && !said; ++later) {
    RunningCommand command(words, {"SLIMGRAPH_LOG=debug"});
    pid_t victim = -1;
    while (victim < 0) victim = command.NodeProcess(1).value_or(-1);
    AwaitWork(victim, .5 * later);
    ASSERT_EQ(::kill(victim, SIGSTOP), 0);
    said = command.AwaitError(wait.text, std::chrono::seconds(4));
    ::kill(victim, SIGKILL);
    errors += command.Wait().err;
  }
  EXPECT_TRUE(said) << errors;
}

TEST_F(FaultyJob, RefusesAnUnknownLogInOneLine) {
  for (const char* const nodes : {"1", "4"}) {
    const CommandEnd end =
        RunSlimgraph({"scan", graph_, "--nodes", nodes}, {"SLIMGRAPH_LOG=verbose"});
    EXPECT_EQ(end.code, 2);
    EXPECT_EQ(end.err,
              "slimgraph: SLIMGRAPH_LOG=verbose is unknown: set it to debug, or leave it out\n");
  }
}

TEST_F(FaultyJob, EndsWhenTheUserInterruptsIt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    RunningCommand command(LongScan("shm"));
    ASSERT_GT(AwaitNode(command, 3), 0);
    ::kill(command.pid(), signal);
    const CommandEnd end = command.Wait();
    EXPECT_EQ(end.code, 128 + signal) << end.err;
    EXPECT_TRUE(command.Processes().empty());
  }
}

TEST_F(FaultyJob, LeavesNoNodeBehindWhenTheCommandIsKilled) {
  RunningCommand command(LongScan("shm"));
  ASSERT_GT(AwaitNode(command, 3), 0);
  ::kill(command.pid(), SIGKILL);
  EXPECT_EQ(command.Wait().code, 128 + SIGKILL);
  for (int tries = 0; tries < 5000 && !command.Processes().empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(command.Processes().empty());
}

}  // namespace
}  // namespace slimgraph
