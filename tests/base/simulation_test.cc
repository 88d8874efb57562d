#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimgraph/base/sim/atomic.h"
#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/base/sim/sync.h"

namespace slimgraph::sim {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Runs `body` as a thread of node 0.
RunOutcome Simulate(std::uint64_t seed, const std::function<void()>& body) {
  SchedulerOptions options;
  options.seed = seed;
  Scheduler scheduler(options);
  scheduler.Start(0, "main", body);
  return scheduler.Run();
}

Scheduler& Current() { return *Scheduler::Current(); }

// The order in which three threads take ten turns each.
std::string OrderOfTurns(std::uint64_t seed, std::uint64_t* trace) {
  std::string order;
  const RunOutcome outcome = Simulate(seed, [&] {
    std::vector<Thread> threads;
    for (const char name : {'a', 'b', 'c'}) {
      threads.emplace_back([&, name] {
        for (int turn = 0; turn < 10; ++turn) {
          order += name;
          Current().Point();
        }
      });
    }
  });
  EXPECT_EQ(outcome.failure, "");
  *trace = outcome.trace;
  return order;
}

TEST(Simulation, RepeatsARunFromItsSeed) {
  std::set<std::string> orders;
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::uint64_t trace = 0;
    std::uint64_t again = 0;
    const std::string order = OrderOfTurns(seed, &trace);
    EXPECT_EQ(OrderOfTurns(seed, &again), order);
    EXPECT_EQ(again, trace);
    orders.insert(order);
    traces.insert(trace);
  }
  EXPECT_EQ(traces.size(), 50U);
  EXPECT_GT(orders.size(), 40U);
}

// Two threads add 20 times each, in two steps. Returns how often the sum is wrong in 50 runs.
int WrongSums(bool locked) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    int sum = 0;
    Mutex mutex;
    const RunOutcome outcome = Simulate(seed, [&] {
      const auto add = [&] {
        for (int i = 0; i < 20; ++i) {
          std::unique_lock lock(mutex, std::defer_lock);
          if (locked) lock.lock();
          const int before = sum;
          Current().Point();
          sum = before + 1;
        }
      };
      Thread other(add);
      add();
    });
    EXPECT_EQ(outcome.failure, "");
    wrong += sum != 40;
  }
  return wrong;
}

TEST(Simulation, InterleavesThreadsAtPointsUnlessAMutexForbidsIt) {
  EXPECT_EQ(WrongSums(true), 0);
  EXPECT_GT(WrongSums(false), 25);
}

// Two threads add to an atomic 20 times each, by a load and a store. Returns how often the sum is
// wrong in 50 runs.
int WrongSumsOfAtomics(bool points_at_atomics, bool by_reference) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    int word = 0;
    Atomic<int> atomic{0};
    const AtomicRef<int> reference(word);
    Scheduler scheduler({.seed = seed, .points_at_atomics = points_at_atomics});
    scheduler.Start(0, "main", [&] {
      const auto add = [&] {
        for (int i = 0; i < 20; ++i) {
          if (by_reference) {
            reference.store(reference.load() + 1);
          } else {
            atomic.store(atomic.load() + 1);
          }
        }
      };
      Thread other(add);
      add();
    });
    EXPECT_EQ(scheduler.Run().failure, "");
    wrong += (by_reference ? word : atomic.load()) != 40;
  }
  return wrong;
}

TEST(Simulation, InterleavesThreadsAtAtomicsIfItIsTold) {
  for (const bool by_reference : {false, true}) {
    EXPECT_EQ(WrongSumsOfAtomics(false, by_reference), 0);
    EXPECT_GT(WrongSumsOfAtomics(true, by_reference), 25);
  }
}

// One operation on an atomic is one step.
TEST(Simulation, NeverSplitsAnOperationOnAnAtomic) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Atomic<int> sum{0};
    Scheduler scheduler({.seed = seed, .points_at_atomics = true});
    scheduler.Start(0, "main", [&] {
      const auto add = [&] {
        for (int i = 0; i < 20; ++i) {
          int before = sum;
          if (i % 2 == 0) {
            sum.fetch_add(1);
          } else {
            while (!sum.compare_exchange_weak(before, before + 1)) {
            }
          }
        }
      };
      Thread other(add);
      add();
    });
    EXPECT_EQ(scheduler.Run().failure, "");
    EXPECT_EQ(sum, 40);
  }
}

TEST(Simulation, TellsThatAllSleepForever) {
  int stuck = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    // Not on the stack of a thread, which is left as it is when all are stuck.
    Mutex one;
    Mutex two;
    const RunOutcome outcome = Simulate(seed, [&] {
      Thread other([&] {
        const std::lock_guard first(two);
        const std::lock_guard second(one);
      });
      const std::lock_guard first(one);
      const std::lock_guard second(two);
    });
    if (outcome.failure.empty()) continue;
    EXPECT_NE(outcome.failure.find("main of node 0 waits for a mutex"), std::string::npos)
        << outcome.failure;
    ++stuck;
  }
  EXPECT_GT(stuck, 3);
  EXPECT_LT(stuck, 97);
}

TEST(Simulation, SleepsInSimulatedTimeAlone) {
  const RunOutcome outcome = Simulate(1, [] {
    Thread other([] { SleepFor(std::chrono::minutes(30)); });
    SleepFor(std::chrono::minutes(20));
  });
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GE(outcome.end_ns, 1'800'000 * kMs);
  EXPECT_LT(outcome.end_ns, 1'800'010 * kMs);
  const RunOutcome late = Simulate(1, [] { SleepFor(std::chrono::hours(2)); });
  EXPECT_EQ(late.failure, "not done after 7200 s of simulated time: main of node 0 waits for ");
}

TEST(Simulation, RunsThreadsInParallel) {
  const RunOutcome outcome = Simulate(1, [] {
    std::vector<Thread> threads;
    for (int i = 0; i < 100; ++i) threads.emplace_back([] { Current().Spend(kMs); });
  });
  EXPECT_GE(outcome.end_ns, kMs);
  EXPECT_LT(outcome.end_ns, 20 * kMs);
}

// Whoever takes an item without looking whether there is one has relied on the wake-up.
TEST(Simulation, WakesWithoutANotificationNowAndThen) {
  const auto takes_what_is_not_there = [](std::uint64_t seed, bool looks) {
    int items = 0;
    int least = 0;
    Mutex mutex;
    Condition changed;
    const RunOutcome outcome = Simulate(seed, [&] {
      Thread taker([&] {
        for (int i = 0; i < 10; ++i) {
          std::unique_lock lock(mutex);
          if (looks) {
            changed.wait(lock, [&] { return items > 0; });
          } else if (items == 0) {
            changed.wait(lock);
          }
          least = std::min(least, --items);
        }
      });
      for (int i = 0; i < 10; ++i) {
        const std::lock_guard lock(mutex);
        ++items;
        changed.notify_one();
      }
    });
    EXPECT_EQ(outcome.failure, "");
    return least < 0;
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(takes_what_is_not_there(seed, true)) << "seed " << seed;
    found += takes_what_is_not_there(seed, false);
  }
  EXPECT_GT(found, 0);
}

TEST(Simulation, EndsAWaitAtItsDeadline) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Mutex mutex;
    Condition changed;
    const RunOutcome outcome = Simulate(seed, [&] {
      std::unique_lock lock(mutex);
      const std::uint64_t begun_ns = Current().now_ns();
      EXPECT_FALSE(changed.wait_for(lock, std::chrono::milliseconds(5), [] { return false; }));
      EXPECT_GE(Current().now_ns() - begun_ns, 5 * kMs);
      EXPECT_LT(Current().now_ns() - begun_ns, 9 * kMs);
    });
    EXPECT_EQ(outcome.failure, "");
  }
}

struct CountsItsEnd {
  ~CountsItsEnd() { ++ends; }
  int& ends;
};

TEST(Simulation, KillsANodeBetweenTwoSteps) {
  std::set<int> steps_of_the_dead;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    int steps[2] = {0, 0};
    int ends = 0;
    Scheduler scheduler({.seed = seed});
    for (const NodeId node : {0U, 1U}) {
      scheduler.Start(node, "counter", [&, node] {
        const CountsItsEnd counts{ends};
        for (; steps[node] < 1000; ++steps[node]) Current().Point();
      });
    }
    scheduler.Start(2, "killer", [] {
      SleepFor(std::chrono::microseconds(50));
      Current().EndNode(1, 137);
    });
    const RunOutcome outcome = scheduler.Run();
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(steps[0], 1000);
    EXPECT_LT(steps[1], 1000);
    EXPECT_EQ(ends, 1) << "what a dead node had on its stack was destroyed";
    steps_of_the_dead.insert(steps[1]);
  }
  EXPECT_GT(steps_of_the_dead.size(), 10U);
}

TEST(Simulation, EndsWithAThreadThatKillsItsOwnNode) {
  bool survived = false;
  const RunOutcome outcome = Simulate(3, [&] {
    Current().EndNode(0, 137);
    survived = true;
  });
  EXPECT_EQ(outcome.failure, "");
  EXPECT_FALSE(survived);
}

TEST(Simulation, ReportsAFailureAndAnException) {
  EXPECT_EQ(Simulate(1, [] { Current().Fail("the sum is wrong"); }).failure, "the sum is wrong");
  EXPECT_EQ(Simulate(1, [] { throw std::runtime_error("lost"); }).failure,
            "an exception left thread 0: lost");
}

TEST(Simulation, SharesAndRecursesAsTheStandardMutexesDo) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SharedMutex shared;
    RecursiveMutex recursive;
    int readers = 0;
    int most_readers = 0;
    int depth = 0;
    const RunOutcome outcome = Simulate(seed, [&] {
      std::vector<Thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (int turn = 0; turn < 5; ++turn) {
            shared.lock_shared();
            most_readers = std::max(most_readers, ++readers);
            Current().Point();
            --readers;
            shared.unlock_shared();
            const std::lock_guard outer(recursive);
            const std::lock_guard inner(recursive);
            EXPECT_EQ(++depth, 1);
            Current().Point();
            --depth;
          }
        });
      }
      for (int turn = 0; turn < 5; ++turn) {
        const std::lock_guard alone(shared);
        EXPECT_EQ(readers, 0);
        Current().Point();
        EXPECT_EQ(readers, 0);
      }
    });
    EXPECT_EQ(outcome.failure, "");
  }
}

}  // namespace
}  // namespace slimgraph::sim
