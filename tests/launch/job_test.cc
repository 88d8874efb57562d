// Jobs of several processes on this machine: they form, exchange, and learn of losses.
#include "slimgraph/launch/job.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "slimgraph/base/sockets.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

// Waits until `node` is known to be lost.
void AwaitLoss(const Job& job, NodeId node) {
  for (int tries = 0; tries < 10'000 && job.alive(node); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(job.alive(node));
}

TEST(Job, OfOneNodeNeedsNoOthers) {
  const auto job = Job::Alone();
  EXPECT_EQ(job->nodes(), 1U);
  EXPECT_EQ(*job->Exchange("me"), std::vector<std::string>{"me"});
  EXPECT_TRUE(job->alive(0));
  EXPECT_TRUE(job->Leave(0));
}

TEST(Job, ExchangesInOrderOfNodeWhateverTheSize) {
  const auto exchange = [](Job& job) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
      const auto all = job.Exchange(std::string(size, static_cast<char>('a' + job.self())));
      ASSERT_TRUE(all);
      ASSERT_EQ(all->size(), job.nodes());
      for (NodeId node = 0; node < job.nodes(); ++node) {
        EXPECT_EQ((*all)[node], std::string(size, static_cast<char>('a' + node)));
      }
    }
    EXPECT_TRUE(job.one_host());
    EXPECT_EQ(job.address(job.self()), "127.0.0.1");
  };
  for (const NodeId nodes : {1U, 2U, 5U, 16U}) {
    for (const bool encrypts : {false, true}) {
      ExpectNodesRun(nodes, exchange, 60, {.encrypts = encrypts});
    }
  }
}

TEST(Job, AllNodesLearnOfADeath) {
  const NodesEnd end = RunNodes(4, OnLoss::kReport, [](Job& job) {
    std::atomic<bool> heard{false};  // about node 2: nodes that have finished the test are lost as
                                     // well
    const LossWatch watch = job.WatchLoss([&](NodeId node) { heard = heard || node == 2; });
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == 2) std::raise(SIGKILL);
    AwaitLoss(job, 2);
    EXPECT_NE(job.loss().find("died"), std::string::npos) << job.loss();
    while (!heard) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(job.Exchange(""));
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 128 + SIGKILL, 0})) << end.output;
}

TEST(Job, SurvivesDeathsIfToldTo) {
  const NodesEnd end = RunNodes(4, OnLoss::kEndJob, [](Job& job) {
    job.SurviveDeaths(true);
    ASSERT_TRUE(job.Exchange(""));
    for (const NodeId victim : {2U, 3U}) {
      if (job.self() == victim) std::raise(SIGKILL);
      // Nodes that are in the exchange when the death happens are not held up.
      const auto all = job.Exchange(std::to_string(job.self()));
      ASSERT_TRUE(all);
      EXPECT_EQ((*all)[1], "1");
      EXPECT_EQ((*all)[victim], "");
      EXPECT_FALSE(job.alive(victim));
    }
    EXPECT_EQ(job.loss(), "");
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 128 + SIGKILL, 128 + SIGKILL})) << end.output;
}

// Two threads of each node form parts of their own, beside the exchanges of the whole job.
TEST(Job, FormsPartsAnewAfterADeath) {
  const NodesEnd end = RunNodes(4, OnLoss::kEndJob, [](Job& job) {
    job.SurviveDeaths(true);
    ASSERT_TRUE(job.Exchange(""));
    const auto work = [&](std::uint32_t tag) {
      for (NodeId nodes = 4; nodes >= 3; --nodes) {
        const auto part = job.FormPart(tag);
        ASSERT_TRUE(part) << part.error().message;
        if (nodes == 3) {
          ASSERT_EQ((*part)->nodes(), 3U);
          EXPECT_TRUE((*part)->all_alive());
          for (NodeId node = 0; node < 3; ++node) {
            EXPECT_EQ((*part)->node_in_job(node), node < 1 ? node : node + 1);
          }
        }
        for (int i = 0; (*part)->all_alive() && i < 50; ++i) {
          const auto all = (*part)->Exchange(fmt::format("{} {}", tag, i));
          if (!all) {
            EXPECT_FALSE((*part)->AbortPart(all.error())) << all.error().message;
            break;
          }
          for (const std::string& one : *all) EXPECT_EQ(one, fmt::format("{} {}", tag, i));
          if (nodes == 4 && i == 20 && job.self() == 1) std::raise(SIGKILL);
        }
        // The other thread may have seen the death before this part was formed.
        if ((*part)->nodes() == 4) AwaitLoss(**part, 1);
      }
    };
    std::thread other([&] { work(2); });
    work(1);
    other.join();
    ASSERT_TRUE(job.Exchange(""));
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 128 + SIGKILL, 0, 0})) << end.output;
}

// All nodes that reach the point get the same answer, whether one of them dies or not.
TEST(Job, PartsAgreeOnWhetherAllNodesHaveReachedAPoint) {
  const NodesEnd end = RunNodes(4, OnLoss::kEndJob, [](Job& job) {
    job.SurviveDeaths(true);
    ASSERT_TRUE(job.Exchange(""));
    auto part = job.FormPart(1);
    ASSERT_TRUE(part);
    EXPECT_TRUE((*part)->AllReached().value());
    if (job.self() != 2) {  // node 2 leaves the part
      EXPECT_FALSE((*part)->AllReached().value());
    }
    part = job.FormPart(1);
    ASSERT_TRUE(part);
    if (job.self() == 3) std::raise(SIGKILL);
    EXPECT_FALSE((*part)->AllReached().value());  // node 3 has not
    part = job.FormPart(1);
    ASSERT_TRUE(part);
    EXPECT_EQ((*part)->nodes(), 3U);
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 0, 128 + SIGKILL})) << end.output;
}

// The other nodes see the abort like a death, but in that part only. The job and its other parts
// continue.
TEST(Job, ContinuesWhenANodesErrorAbortsAPart) {
  for (const NodeId failing : {0U, 2U}) {
    ExpectNodesRun(3, [&](Job& job) {
      ASSERT_TRUE(job.Exchange(""));
      const auto other = job.FormPart(2);
      ASSERT_TRUE(other);
      bool called = false;
      const LossWatch watch = (*other)->WatchLoss([&](NodeId) { called = true; });
      std::atomic<NodeId> heard{job.nodes()};
      const auto done = job.RunAmongSurvivors(1, [&](Job& part) -> Status {
        const LossWatch watch_part = part.WatchLoss([&](NodeId node) { heard = node; });
        SLIM_TRY(part.Exchange(""));
        if (job.self() == failing) return InputError("the disk is on fire");
        const auto failed = part.Exchange("");
        EXPECT_FALSE(failed);
        EXPECT_FALSE(part.alive(failing));
        EXPECT_TRUE(part.alive(part.self()));
        while (heard != failing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return tl::unexpected<Error>(failed.error());
      });
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().message, fmt::format("node {}: the disk is on fire", failing));
      EXPECT_EQ(done.error().exit_code(), 3);
      EXPECT_FALSE(job.FormPart(1));

      EXPECT_TRUE(job.Exchange(""));
      EXPECT_TRUE((*other)->Exchange(""));
      EXPECT_TRUE((*other)->all_alive());
      EXPECT_FALSE(called);
      EXPECT_TRUE(job.all_alive());
      EXPECT_EQ(job.loss(), "");
    });
  }
}

// A death keeps some nodes from finishing; nodes that had finished repeat the work with them.
TEST(Job, FinishedNodesRepeatTheWorkAfterADeath) {
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [](Job& job) {
    job.SurviveDeaths(true);
    ASSERT_TRUE(job.Exchange(""));
    int works = 0;
    const auto anew = job.RunAmongSurvivors(1, [&](Job& part) -> Status {
      ++works;
      SLIM_TRY(part.Exchange(""));
      if (part.nodes() == 2 || job.self() == 0) return {};
      if (job.self() == 2) std::raise(SIGKILL);
      SLIM_TRY(part.Exchange(""));
      return {};
    });
    ASSERT_TRUE(anew) << anew.error().message;
    EXPECT_EQ(*anew, 1U);
    EXPECT_EQ(works, 2);
    ASSERT_TRUE(job.Exchange(""));
  });
  EXPECT_EQ(end.codes, (std::vector<int>{0, 0, 128 + SIGKILL})) << end.output;
}

TEST(Job, EndsWhenANodeFailsOrTheHubIsLost) {
  for (const bool hub : {false, true}) {
    const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [hub](Job& job) {
      job.SurviveDeaths(true);
      ASSERT_TRUE(job.Exchange(""));
      if (hub && job.self() == 0) std::raise(SIGKILL);
      if (!hub && job.self() == 1) job.Fail({ErrorKind::kInput, "enough"});
      while (true) ::pause();
    });
    EXPECT_EQ(end.codes, (hub ? std::vector<int>{128 + SIGKILL, 4, 4} : std::vector<int>{3, 3, 3}))
        << end.output;
  }
}

TEST(Job, EndsEverywhereWithTheErrorOfTheNodeThatFails) {
  for (const NodeId failing : {0U, 2U}) {
    const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [&](Job& job) {
      ASSERT_TRUE(job.Exchange(""));
      if (job.self() == failing) job.Fail({ErrorKind::kInput, "the disk is on fire"});
      while (true) ::pause();
    });
    EXPECT_EQ(end.codes, (std::vector<int>{3, 3, 3})) << end.output;
    EXPECT_EQ(end.output, fmt::format("slimgraph: node {}: the disk is on fire\n", failing));
  }
}

TEST(Job, ADeathIsNotBlamedOnTheNodeThatItMakesFail) {
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [](Job& job) {
    const auto processes = job.Exchange(std::to_string(::getpid()));
    ASSERT_TRUE(processes);
    if (job.self() == 2) std::raise(SIGKILL);
    if (job.self() == 1) {
      AwaitEnd(std::stoi((*processes)[2]));
      job.Fail({ErrorKind::kEnvironment, "cannot reach node 2"});
    }
    while (true) ::pause();
  });
  EXPECT_EQ(end.codes, (std::vector<int>{4, 4, 128 + SIGKILL})) << end.output;
  EXPECT_EQ(end.output.find("slimgraph: node 2: died"), 0U) << end.output;
}

TEST(Job, TheDeathOfTheHubEndsItToo) {
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [](Job& job) {
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == 0) std::raise(SIGKILL);
    while (true) ::pause();
  });
  EXPECT_EQ(end.codes, (std::vector<int>{128 + SIGKILL, 4, 4})) << end.output;
  EXPECT_EQ(end.output.find("slimgraph: node 0: died"), 0U) << end.output;
  EXPECT_EQ(std::count(end.output.begin(), end.output.end(), '\n'), 1) << end.output;
}

TEST(Job, NodesThatWereStoppedTogetherAreNotDeclaredDead) {
  ExpectNodesRun(3, [](Job& job) {
    const auto all = job.Exchange(std::to_string(::getpid()));
    ASSERT_TRUE(all);
    const auto tell = [&](int signal) {
      for (const std::string& pid : *all) ::kill(std::stoi(pid), signal);
    };
    if (job.self() == 0) {
      const pid_t holder = ::fork();
      if (holder == 0) {
        tell(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(3600));
        tell(SIGCONT);
        ::_exit(0);
      }
      int status = 0;
      EXPECT_EQ(::waitpid(holder, &status, 0), holder);
    }
    EXPECT_TRUE(job.Exchange(""));
    EXPECT_EQ(job.loss(), "");
  });
}

// The words of a sched_attr. The fourth is the time slice, for a thread without a deadline.
std::array<std::uint64_t, 6> ScheduleOf(pid_t thread) {
  std::array<std::uint64_t, 6> words{};
  ::syscall(SYS_sched_getattr, thread, words.data(), sizeof words, 0);
  return words;
}

bool ThreadsHaveSlices() {
  bool have = false;
  std::thread([&have] {
    auto words = ScheduleOf(0);
    words[3] = 200'000;
    ::syscall(SYS_sched_setattr, 0, words.data(), 0);
    have = ScheduleOf(0)[3] == 200'000;
  }).join();
  return have;
}

TEST(Job, ItsControlThreadRunsSoonOnABusyMachine) {
  if (!ThreadsHaveSlices()) GTEST_SKIP() << "before Linux 6.12 a thread has no slice of its own";
  ExpectNodesRun(2, [](Job& job) {
    ASSERT_TRUE(job.Exchange(""));
    std::uint64_t shortest = ~std::uint64_t{0};
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      const pid_t id = std::stoi(thread.path().filename().string());
      shortest = std::min(shortest, ScheduleOf(id)[3]);
    }
    EXPECT_EQ(shortest, 100'000U);
    ASSERT_TRUE(job.Exchange(""));
  });
}

TEST(Job, StrangersAreTurnedAway) {
  auto listener = ListenTcp("127.0.0.1");
  ASSERT_TRUE(listener);
  const std::string hub = fmt::format("127.0.0.1:{}", LocalAddress(listener->get()).port());
  std::thread stranger([&] {
    auto refused =
        Job::Join({.self = 1, .nodes = 2, .hub_address = hub, .secret = "guess"}, OnLoss::kReport);
    EXPECT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("did not let this node in"), std::string::npos);
    auto friendly =
        Job::Join({.self = 1, .nodes = 2, .hub_address = hub, .secret = "right"}, OnLoss::kReport);
    ASSERT_TRUE(friendly);
    EXPECT_TRUE((*friendly)->Leave(0));
  });
  JoinConfig config{.self = 0, .nodes = 2, .secret = "right"};
  config.listener = std::move(*listener);
  auto job = Job::Join(std::move(config), OnLoss::kReport);
  ASSERT_TRUE(job);
  EXPECT_TRUE((*job)->Leave(0));
  stranger.join();
}

}  // namespace
}  // namespace slimgraph
