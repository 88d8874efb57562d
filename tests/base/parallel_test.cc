#include "slimgraph/base/parallel.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace slimgraph {
namespace {

// The sum of all pieces; it shows that each piece ran once.
std::size_t SumOfPieces(std::size_t count, std::size_t threads) {
  std::atomic<std::size_t> sum = 0;
  const Status ran = ParallelFor(count, threads, [&](std::size_t i) {
    sum += i + 1;
    return Status{};
  });
  return ran ? sum.load() : 0;
}

TEST(ParallelFor, RunsEachPieceOnce) {
  for (const std::size_t count : {0, 1, 2, 7, 1000}) {
    for (const std::size_t threads : {0, 1, 2, 5}) {
      EXPECT_EQ(SumOfPieces(count, threads), count * (count + 1) / 2) << count << " " << threads;
    }
  }
}

TEST(ParallelFor, RunsAsManyAtOnceAsAsked) {
  std::atomic<int> here = 0;
  const Status ran = ParallelFor(3, 3, [&](std::size_t) {
    ++here;
    while (here < 3) std::this_thread::yield();
    return Status{};
  });
  EXPECT_TRUE(ran);
}

TEST(ParallelFor, ReturnsTheErrorOfTheFirstPieceThatFails) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<std::size_t> begun = 0;
    const Status ran = ParallelFor(10'000, 4, [&](std::size_t i) -> Status {
      ++begun;
      if (i >= 10) return EnvironmentError("piece {}", i);
      return {};
    });
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message, "piece 10");
    EXPECT_LE(begun, 10U + 4);
  }
}

double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(ParallelFor, SleepsWhileItWaitsForAPiece) {
  const double before_s = ProcessorSeconds();
  for (int loop = 0; loop < 10; ++loop) {
    const Status ran = ParallelFor(2, 2, [](std::size_t i) -> Status {
      if (i == 1) ::usleep(50'000);
      return {};
    });
    EXPECT_TRUE(ran.has_value());
    ::usleep(50'000);  // threads of the loop do not spin behind it either
  }
  EXPECT_LT(ProcessorSeconds() - before_s, 0.05);
}

// Threads that stay after a loop must leave signals to the thread that waits for them by a
// descriptor.
TEST(ParallelFor, LeavesNoThreadThatTakesSignals) {
  sigset_t one;
  sigset_t before;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGURG);  // lost if another thread takes it
  for (const std::size_t threads : {5, 2, 7}) {
    EXPECT_EQ(SumOfPieces(100, threads), 5050U);
    ::pthread_sigmask(SIG_BLOCK, &one, &before);
    ::kill(::getpid(), SIGURG);
    const timespec limit{.tv_sec = 2, .tv_nsec = 0};
    EXPECT_EQ(::sigtimedwait(&one, nullptr, &limit), SIGURG) << threads << " threads";
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

// A forked child does not have the threads that its parent keeps from earlier loops.
TEST(ParallelFor, RunsInAForkedProcess) {
  EXPECT_EQ(SumOfPieces(100, 4), 5050U);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(SumOfPieces(100, 4) == 5050 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace slimgraph
