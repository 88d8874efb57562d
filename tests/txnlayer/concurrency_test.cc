// How a thread finds the number of its coroutines: with a clock and rates that the test makes up.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "txnlayer/workload/internal/concurrency.h"

namespace slimgraph::test {
namespace {

using txn::Concurrency;

constexpr std::uint64_t kStartNs = 1'000'000;
constexpr std::uint64_t kStepNs = 100'000;

// Commits per step, by the number of coroutines and the time.
using Rate = std::function<std::uint64_t(std::uint32_t, std::uint64_t)>;

// Returns the number that is chosen in a run of a second. `tried`: how many steps each has had.
std::uint32_t ChosenAt(const Rate& rate, std::map<std::uint32_t, std::uint64_t>* tried = nullptr) {
  Concurrency concurrency(kStartNs, 1);
  std::uint64_t now_ns = kStartNs;
  while (!concurrency.chosen()) {
    EXPECT_TRUE(concurrency.MayBegin(0, now_ns));
    const std::uint32_t active = concurrency.active();
    for (std::uint32_t coroutine = 0; coroutine < Concurrency::kMost; ++coroutine) {
      EXPECT_EQ(concurrency.MayBegin(coroutine, now_ns), coroutine < active);
    }
    if (concurrency.chosen()) break;
    if (tried != nullptr) ++(*tried)[active];
    EXPECT_FALSE(concurrency.TakeJustChosen());
    for (std::uint64_t i = rate(active, now_ns); i > 0; --i) concurrency.CountCommit();
    now_ns += kStepNs;
    EXPECT_LT(now_ns, kStartNs + 200'000'000) << "more than a fifth of the run";
  }
  EXPECT_TRUE(concurrency.TakeJustChosen());
  EXPECT_FALSE(concurrency.TakeJustChosen());
  EXPECT_EQ(concurrency.until_ns(), ~std::uint64_t{0});
  return concurrency.active();
}

TEST(Concurrency, IsTheSmallestThatIsAlmostTheFastest) {
  EXPECT_EQ(ChosenAt([](std::uint32_t, std::uint64_t) { return 100; }), 1U);
  EXPECT_EQ(ChosenAt([](std::uint32_t active, std::uint64_t) { return 100 * active; }), 16U);
  EXPECT_EQ(ChosenAt([](std::uint32_t active, std::uint64_t) { return 1600 / active; }), 1U);
  std::map<std::uint32_t, std::uint64_t> peak = {{1, 60}, {2, 90}, {4, 100}, {8, 101}, {16, 80}};
  EXPECT_EQ(ChosenAt([&](std::uint32_t active, std::uint64_t) { return peak[active]; }), 4U);
  peak[2] = 97;
  EXPECT_EQ(ChosenAt([&](std::uint32_t active, std::uint64_t) { return peak[active]; }), 2U);
  EXPECT_EQ(ChosenAt([](std::uint32_t, std::uint64_t) { return 0; }), 1U);  // nothing commits
}

TEST(Concurrency, TriesEachAsLong) {
  std::map<std::uint32_t, std::uint64_t> tried;
  ChosenAt([](std::uint32_t, std::uint64_t) { return 100; }, &tried);
  ASSERT_EQ(tried.size(), Concurrency::kTried.size());
  for (const auto& [active, steps] : tried) EXPECT_EQ(steps, tried[1]) << active;
}

// Caches are cold in the first round, and all transactions may be stopped in another.
TEST(Concurrency, IsNotMisledBySlowMoments) {
  const auto rate = [](std::uint32_t active) { return active == 2 ? 100U : 50U; };
  EXPECT_EQ(ChosenAt([&](std::uint32_t active, std::uint64_t now_ns) {
              const std::uint64_t since_ns = now_ns - kStartNs;
              if (since_ns < 20'000'000) return active == 16 ? 500U : 1U;
              if (since_ns > 40'000'000 && since_ns < 60'000'000) return 0U;
              return rate(active);
            }),
            2U);
}

}  // namespace
}  // namespace slimgraph::test
