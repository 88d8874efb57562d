// Jobs on a pool whose processes die: with --survive they go on, and with copies they begin again.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/apps/pool_support.h"

namespace slimgraph {
namespace {

class Surviving : public PoolTest {
 protected:
  static void SetUpTestSuite() { StartPool({"--copies", "2"}); }
  static std::vector<std::string> Words(const std::vector<std::string>& more) {
    std::vector<std::string> words{CommandPath(), "pagerank", "p:kron",
                                   "--survive",   "--verify", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Sends a signal to a compute node other than node 0, once there is one.
  static void SendToComputeNode(const RunningCommand& job, int signal) {
    for (int i = 0; i < 5000; ++i) {
      for (const pid_t process : job.Processes()) {
        if (process != job.pid()) return static_cast<void>(::kill(process, signal));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "no compute node";
  }
  // The process that a node of the pool has started for the only job; 0: there is none any more.
  static pid_t DeputyOf(NodeId node) {
    const std::string threads = fmt::format("/proc/{}/task", ProcessOf(node));
    for (const auto& thread : std::filesystem::directory_iterator(threads)) {
      std::ifstream children(thread.path() / "children");
      if (pid_t deputy = 0; children >> deputy) return deputy;
    }
    return 0;
  }
  // Kills a node of the pool and its deputy while the job is stopped, so that it cannot end before.
  // Nothing: the job had ended, or had written its result, when it was stopped.
  static std::optional<CommandEnd> EndAfterDeath(const std::vector<std::string>& words) {
    RunningCommand job(words);
    EXPECT_TRUE(job.AwaitError("the job takes"));
    ::kill(job.pid(), SIGSTOP);
    const auto node = static_cast<NodeId>(random_() % 3);
    const std::vector<pid_t> ends{DeputyOf(node), ProcessOf(node)};
    for (const pid_t process : ends) {
      if (ends[0] > 0) ::kill(process, SIGKILL);
    }
    ::kill(job.pid(), SIGCONT);
    CommandEnd end = job.Wait();
    if (ends[0] > 0) Run({"pool", "start", "p"});
    if (end.err.find("the job begins again") == std::string::npos) return std::nullopt;
    return end;
  }
  // Kills a compute node, and stops another one when the job goes on.
  static void ExpectRight(const std::vector<std::string>& count) {
    std::vector<std::string> words = count;
    words.insert(words.begin() + 1, scratch_->File("kron.slim"));
    const std::string right = Run(words);
    words[1] = "p:kron";
    words.insert(words.begin(), CommandPath());
    words.insert(words.end(), {"--survive", "--compute", "3"});
    RunningCommand job(words);
    ASSERT_TRUE(job.AwaitError("the job takes"));
    for (const int signal : {SIGKILL, SIGSTOP}) {
      SendToComputeNode(job, signal);
      ASSERT_TRUE(job.AwaitError("the job goes on from step "));
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    const CommandEnd end = job.Wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out.substr(0, end.out.find('\n')), right.substr(0, right.find('\n')));
  }
  static void ExpectVerified(const CommandEnd& end, double least_deaths) {
    ASSERT_EQ(end.code, 0) << end.err;
    const JsonValue report = Parse(end.out);
    EXPECT_TRUE(report.IsTrue("/verified"));
    double lost = 0;
    for (const double one : Numbers(report, "/phases/lost")) lost += one;
    EXPECT_GE(lost, least_deaths) << end.err;
    EXPECT_GT(Numbers(report, "/phases/first_step").back(), 0);
  }
};

TEST_F(Surviving, OfCountsDeathsOfComputeNodes) {
  ExpectRight({"match", "--pattern", "bull", "--induced", "vertex", "--threads", "2"});
}

TEST_F(Surviving, ComputeNodesThatDieOrAreStopped) {
  RunningCommand job(Words({"--iterations", "8000", "--compute", "3"}));
  ASSERT_TRUE(job.AwaitError("on the largest of 6 nodes"));
  SendToComputeNode(job, SIGKILL);
  ASSERT_TRUE(job.AwaitError("the job goes on from step "));
  std::this_thread::sleep_for(std::chrono::milliseconds(800));  // the first steps
  SendToComputeNode(job, SIGSTOP);
  const CommandEnd end = job.Wait();
  ExpectVerified(end, 2);
  EXPECT_NE(end.err.find("has not answered for 3 s"), std::string::npos) << end.err;
}

TEST_F(Surviving, DeathsOfWhateverHasComputedSoFar) {
  RunningCommand job(Words({"--iterations", "3000", "--compute-schedule", "3@0,2@700,3@1400"}));
  for (const char* const said : {"of 6 nodes", "from step 700 on", "from step 1400 on"}) {
    ASSERT_TRUE(job.AwaitError(said));
    SendToComputeNode(job, SIGKILL);
  }
  ExpectVerified(job.Wait(), 1);  // a compute node may be killed when it has left already
}

TEST_F(Surviving, ANodeOfThePoolThatHasCopies) {
  {
    RunningCommand job(Words({"--iterations", "6000", "--compute", "2"}));
    ASSERT_TRUE(job.AwaitError("the job takes"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the first steps
    ::kill(ProcessOf(1), SIGKILL);
    SendToComputeNode(job, SIGKILL);
    ExpectVerified(job.Wait(), 1);
  }
  RunningCommand job(Words({"--iterations", "1000000", "--compute", "2"}));
  ASSERT_TRUE(job.AwaitError("the job takes"));
  ::kill(ProcessOf(2), SIGKILL);
  SendToComputeNode(job, SIGKILL);
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("has ended"), std::string::npos) << end.err;
  Run({"pool", "start", "p"});
}

// Without --survive.
TEST_F(Surviving, BeginsAgainIfANodeOfThePoolDies) {
  const std::vector<std::vector<std::string>> kJobs = {
      {"pagerank", "--iterations", "300", "--compute-schedule", "1@0,2@2", "--verify"},
      {"bc", "--random", "20", "--repeat", "5", "--threads", "2", "--verify"},
      {"motifs", "-k", "4", "--transport", "tcp"},
      {"local", "--triangles", "--verify", "--output", scratch_->File("triangles")},
      {"ktruss", "--verify"},
      {"run", "kcore", "mis:seed=2", "--verify"}};
  for (const auto& one : kJobs) {
    std::vector<std::string> words = one;
    words.insert(words.begin() + 1, "p:kron");
    words.push_back("--json");
    const JsonValue right = Parse(Run(words));
    words.insert(words.begin(), CommandPath());
    std::optional<CommandEnd> end;
    for (int tries = 0; tries < 30 && !end; ++tries) end = EndAfterDeath(words);
    ASSERT_TRUE(end) << one[0] << " has never begun again";
    ASSERT_EQ(end->code, 0) << one[0] << "\n" << end->err;
    const JsonValue report = Parse(end->out);
    EXPECT_EQ(report.NumberAt("/begun_again"), 1);
    EXPECT_EQ(report.IsTrue("/verified"), right.IsTrue("/verified"));
    EXPECT_EQ(Numbers(report, "/result/counts"), Numbers(right, "/result/counts"));
    EXPECT_EQ(report.NumberAt("/result/count"), right.NumberAt("/result/count"));
  }
}

TEST_F(Surviving, OnlyWithItDeathsOfComputeNodes) {
  RunningCommand job(
      {CommandPath(), "pagerank", "p:kron", "--iterations", "1000000000", "--compute", "2"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  SendToComputeNode(job, SIGKILL);
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_EQ(end.err.find("again"), std::string::npos) << end.err;
}

TEST_F(Surviving, NotCancelsAndTheEndOfThePool) {
  for (const char* const survive : {"--survive", "--threads=1"}) {
    RunningCommand job(
        {CommandPath(), "pagerank", "p:kron", "--iterations", "1000000000", survive});
    ASSERT_TRUE(job.AwaitError("the job takes"));
    Run({"job", "cancel", "p", std::to_string(job.pid())});
    const CommandEnd end = job.Wait();
    EXPECT_EQ(end.code, 4) << end.err;
    EXPECT_NE(end.err.find("\nslimgraph: the job has ended: it was cancelled"), std::string::npos)
        << end.err;
  }
  RunningCommand job({CommandPath(), "pagerank", "p:kron", "--iterations", "1000000000"});
  ASSERT_TRUE(job.AwaitError("the job takes"));
  Run({"pool", "stop", "p", "--now"});
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 4) << end.err;
  EXPECT_NE(end.err.find("\nslimgraph: the job has ended: its pool was stopped"), std::string::npos)
      << end.err;
  Run({"pool", "start", "p", "--nodes", "3", "--copies", "2"});
  Run({"pool", "load", "p", scratch_->File("kron.slim")});
}

// Each compute node dies before it has made a step.
TEST_F(Surviving, GivesUpWhenDeathsDoNotEnd) {
  RunningCommand job(Words({"--iterations", "1000000000", "--compute", "2"}));
  ASSERT_TRUE(job.AwaitError("the job takes"));
  std::atomic<bool> ended{false};
  std::thread killer([&] {
    while (!ended) {
      for (const pid_t process : job.Processes()) {
        if (process != job.pid()) ::kill(process, SIGKILL);
      }
    }
  });
  const bool has_given_up = job.AwaitError(" times in step ");
  ended = true;  // before the command ends: a leak checker in it has a process of its own
  killer.join();
  const CommandEnd end = job.Wait();
  EXPECT_TRUE(has_given_up) << end.err;
  EXPECT_EQ(end.code, 4) << end.err;
}

}  // namespace
}  // namespace slimgraph
