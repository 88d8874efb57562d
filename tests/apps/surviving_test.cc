// Jobs on a pool whose processes die: with --survive they go on, and with copies they begin again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "apps/job/node_zero.h"
#include "tests/apps/pool_support.h"
#include "tests/support/unwrap.h"

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
  static bool IsChild(const RunningCommand& job, pid_t process) {
    std::ifstream stat(fmt::format("/proc/{}/stat", process));
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(')');  // "NUMBER (NAME) STATE PARENT …"
    return name_end != text.npos &&
           text.substr(name_end + 4).starts_with(std::to_string(job.pid()) + " ");
  }
  // Sends a signal to a child of the command's process, or to a process below, once there is one.
  static void SendTo(const RunningCommand& job, bool child, int signal) {
    for (int i = 0; i < 5000; ++i) {
      for (const pid_t process : job.Processes()) {
        if (process == job.pid() || IsChild(job, process) != child) continue;
        return static_cast<void>(::kill(process, signal));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "no such process";
  }
  // In a job that survives, node 0 is a child of the command's process, and the others are its.
  static void SendToNodeZero(const RunningCommand& job, int signal) { SendTo(job, true, signal); }
  static void SendToComputeNode(const RunningCommand& job, int signal) {
    SendTo(job, false, signal);
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
  // Runs the count as a job on the pool, lets `disturb` kill its processes, and expects the count
  // of a run in one process.
  static void ExpectRight(std::vector<std::string> words,
                          const std::function<void(const RunningCommand&)>& disturb) {
    words.insert(words.begin() + 1, scratch_->File("kron.slim"));
    const std::string right = Run(words);
    words[1] = "p:kron";
    words.insert(words.begin(), CommandPath());
    words.insert(words.end(), {"--survive", "--compute", "3"});
    RunningCommand job(words);
    ASSERT_TRUE(job.AwaitError("the job takes"));
    disturb(job);
    const CommandEnd end = job.Wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.err.find("the job goes on from step "), std::string::npos) << end.err;
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
  ExpectRight({"match", "--pattern", "bull", "--induced", "vertex", "--threads", "2"},
              [](const RunningCommand& job) {
                for (const int signal : {SIGKILL, SIGSTOP}) {
                  SendToComputeNode(job, signal);
                  ASSERT_TRUE(job.AwaitError("the job goes on from step "));
                  std::this_thread::sleep_for(std::chrono::milliseconds(300));
                }
              });
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

TEST_F(Surviving, DeathsOfNodeZero) {
  for (const char* const compute : {"1", "3"}) {
    RunningCommand job(Words({"--iterations", "6000", "--compute", compute}));
    ASSERT_TRUE(job.AwaitError("the job takes"));
    for (int deaths = 0; deaths < 3; ++deaths) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));  // the first steps
      SendToNodeZero(job, SIGKILL);
      SendToNodeZero(job, 0);  // there is another one
    }
    const CommandEnd end = job.Wait();
    ExpectVerified(end, 1);
    EXPECT_NE(end.err.find("slimgraph: node 0 has died by signal 9 (Killed); the job goes on"),
              std::string::npos)
        << end.err;
    const JsonValue report = Parse(end.out);
    EXPECT_EQ(report.NumberAt("/phases/compute/0"), std::stod(compute));
    EXPECT_EQ(report.Find("/steps/seconds/0"), nullptr);
  }
}

// The nodes that follow a dead node 0 are as many as computed when it died, and change as planned.
TEST_F(Surviving, ANodeZeroThatIsStoppedAmongChanges) {
  RunningCommand job(Words({"--iterations", "11000", "--compute-schedule", "3@0,1@300,2@10000"}));
  ASSERT_TRUE(job.AwaitError("from step 300 on"));
  SendToNodeZero(job, SIGSTOP);
  ASSERT_TRUE(job.AwaitError("slimgraph: node 0 was stopped for 2 s; the job goes on from step "));
  const CommandEnd end = job.Wait();
  ExpectVerified(end, 1);
  EXPECT_EQ(end.err.find("has not answered"), std::string::npos) << end.err;
  // If the change had not been completed, it was made again.
  const std::vector<double> compute = Numbers(Parse(end.out), "/phases/compute");
  ASSERT_GE(compute.size(), 3U);
  EXPECT_EQ(compute[compute.size() - 2], 1);
  EXPECT_EQ(compute.back(), 2);
}

TEST_F(Surviving, OfCountsDeathsOfNodeZero) {
  ExpectRight({"match", "--pattern", "5-cycle"}, [](const RunningCommand& job) {
    for (int deaths = 0; deaths < 2; ++deaths) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      SendToNodeZero(job, SIGKILL);
      SendToNodeZero(job, 0);  // there is another one
    }
  });
}

TEST_F(Surviving, NotSignalsThatAreMeantForTheJob) {
  RunningCommand job(Words({"--iterations", "1000000000"}));
  ASSERT_TRUE(job.AwaitError("the job takes"));
  SendToNodeZero(job, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  SendToNodeZero(job, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // longer than it may be stopped
  SendToNodeZero(job, SIGTERM);
  const CommandEnd end = job.Wait();
  EXPECT_EQ(end.code, 128 + SIGTERM) << end.err;
  EXPECT_EQ(end.err.find("goes on"), std::string::npos) << end.err;
}

// The job is in the middle of its result, which is more than its pipe takes.
class SurvivingResult : public Surviving {
 protected:
  static constexpr int kPipeBytes = 4096;
  // `shell`: what a shell does before it becomes the command.
  void StartJob(const std::string& shell, std::vector<std::string> words) {
    const std::string path = scratch_->File("pipe");
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    pipe_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_EQ(::fcntl(pipe_.get(), F_SETPIPE_SZ, kPipeBytes), kPipeBytes);
    words.insert(words.begin(), {"/bin/sh", "-c", shell + "exec \"$0\" \"$@\" >" + path});
    job_.emplace(words);
    int bytes = 0;
    for (int i = 0; i < 20'000 && bytes < kPipeBytes; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_EQ(::ioctl(pipe_.get(), FIONREAD, &bytes), 0);
    }
    ASSERT_EQ(bytes, kPipeBytes);
  }
  static std::vector<std::string> ThreeNodes() {
    return Words({"--iterations", "1000", "--compute", "3"});
  }
  // Reads until the result is complete, or nobody can write any more.
  std::string ReadResult() {
    std::string result;
    for (int i = 0; i < 20'000 && !result.ends_with("}\n"); ++i) {
      std::array<char, kPipeBytes> some{};
      const ssize_t bytes = ::read(pipe_.get(), some.data(), some.size());
      if (bytes == 0) break;
      if (bytes < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (bytes > 0) result.append(some.data(), static_cast<std::size_t>(bytes));
    }
    return result;
  }
  // Kills a compute node, and waits until the others know.
  void KillComputeNode() {
    SendToComputeNode(*job_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  // The command must end with this code and say nothing more than what it takes and `said`.
  void ExpectEnd(int code, const char* said) {
    const CommandEnd end = job_->Wait();
    EXPECT_EQ(end.code, code) << end.err;
    const std::size_t first_end = end.err.find('\n') + 1;
    EXPECT_TRUE(end.err.starts_with("slimgraph: the job takes ")) << end.err;
    EXPECT_EQ(end.err.substr(first_end), said);
  }

  UniqueFd pipe_;
  std::optional<RunningCommand> job_;
};

TEST_F(SurvivingResult, IsSaidToBeIncompleteIfNodeZeroDies) {
  StartJob("", ThreeNodes());
  SendToNodeZero(*job_, SIGKILL);
  ExpectEnd(4,
            "slimgraph: node 0 has died by signal 9 (Killed), and its result may be incomplete\n");
}

// A node that is stopped keeps node 0 from ending at once.
TEST_F(SurvivingResult, CountsIfNodeZeroDiesAfterwards) {
  StartJob("", ThreeNodes());
  SendToComputeNode(*job_, SIGSTOP);
  EXPECT_TRUE(Parse(ReadResult()).IsTrue("/verified"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  SendToNodeZero(*job_, SIGKILL);
  ExpectEnd(0, "");
}

TEST_F(SurvivingResult, CountsIfAComputeNodeDies) {
  StartJob("", ThreeNodes());
  KillComputeNode();
  EXPECT_TRUE(Parse(ReadResult()).IsTrue("/verified"));
  ExpectEnd(0, "");
  EXPECT_EQ(ReadResult(), "");
}

TEST_F(SurvivingResult, IsNotComputedAgainIfItCannotBeWritten) {
  StartJob("trap '' PIPE; ", ThreeNodes());
  KillComputeNode();
  pipe_.Reset();
  ExpectEnd(4, "slimgraph: cannot write the result to standard output: Broken pipe\n");
}

TEST_F(SurvivingResult, HasNoFailureInItsMiddle) {
  std::vector<std::string> words = ThreeNodes();
  std::erase(words, "--survive");
  StartJob("", words);
  SendTo(*job_, /*child=*/true, SIGKILL);
  EXPECT_EQ(job_->Wait().code, 4);
  EXPECT_EQ(ReadResult().size(), kPipeBytes);
}

TEST(SurvivingDeaths, AreTooManyWithoutAStep) {
  DeathsInStep deaths;
  for (const std::uint64_t step : {0, 0, 0, 5, 5, 5, 0, 7, 7, 7}) {
    EXPECT_TRUE(deaths.Add(step, "x")) << step;
  }
  EXPECT_EQ(deaths.Add(7, "node 0 has died").error().message,
            "node 0 has died (4 times in step 7)");
}

TEST(SurvivingState, IsWhatWasNotedLast) {
  const auto keeper = Unwrap(HandoverKeeper::Make());
  EXPECT_FALSE(keeper->Last());
  const auto write = [&](std::size_t which, std::uint64_t bytes, char text) {
    const auto memory = Unwrap(keeper->Open(which, bytes));
    std::memset(memory->base(), text, bytes);
  };
  write(0, 10'000, 'a');
  keeper->Note({.memory = 0, .bytes = 10'000, .step = 4, .compute = 3});
  write(1, 20'000, 'b');  // dies before that one is complete
  const auto mapped_by_others = Unwrap(keeper->Open(1, 20'000));
  ASSERT_TRUE(keeper->Renew());
  mapped_by_others->base()[0] = std::byte{'c'};
  const auto last = keeper->Last();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->memory, 0U);
  EXPECT_EQ(last->step, 4U);
  EXPECT_EQ(last->compute, 3U);
  EXPECT_EQ(Unwrap(keeper->Open(0, last->bytes))->base()[9'999], std::byte{'a'});
  EXPECT_EQ(Unwrap(keeper->Open(1, 5'000))->base()[0], std::byte{0});
  keeper->Note({.memory = 1, .bytes = 5'000, .step = 5, .compute = 1});
  EXPECT_EQ(keeper->Last()->step, 5U);
  EXPECT_FALSE(keeper->has_begun_result());
  keeper->NoteResultBegins();
  EXPECT_TRUE(keeper->has_begun_result());
  EXPECT_EQ(keeper->exit_code(), std::nullopt);
  keeper->NoteResult(1);
  EXPECT_EQ(keeper->exit_code(), 1);
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
  SendTo(job, /*child=*/true, SIGKILL);
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
