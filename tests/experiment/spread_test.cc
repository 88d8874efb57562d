#include "experiment/spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace slimgraph::experiment {
namespace {

TEST(Spread, OfFewSamplesIsTheirRange) {
  const Spread spread = SpreadOf({3, 1, 2});
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.low, 1);
  EXPECT_EQ(spread.high, 3);
  EXPECT_EQ(SpreadOf({4, 2}).median, 3);
}

// Checks that the right order statistics are chosen.
TEST(Spread, ContainsTheTrueMedianNineTimesInTen) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::lognormal_distribution<double> draw(0, 1);  // its median is 1
  for (const std::size_t n : {5, 7, 10, 15, 31}) {
    std::size_t held = 0;
    std::size_t of_less = 0;
    constexpr std::size_t kTrials = 4000;
    for (std::size_t trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples(n);
      std::generate(samples.begin(), samples.end(), [&] { return draw(random); });
      const Spread spread = SpreadOf(samples);
      held += spread.low <= 1 && 1 <= spread.high;
      std::sort(samples.begin(), samples.end());
      of_less += spread.low > samples.front();
    }
    EXPECT_GE(held, kTrials * 88 / 100) << n;
    if (n >= 10) {
      EXPECT_GT(of_less, kTrials / 2) << n << ": outliers count";
    }
  }
}

TEST(Spread, IsTightFromThreeSamplesOn) {
  EXPECT_FALSE(IsTight(SpreadOf({1, 1})));
  EXPECT_TRUE(IsTight(SpreadOf({1, 1, 1.05})));
  EXPECT_FALSE(IsTight(SpreadOf({1, 1, 1.2})));
  EXPECT_TRUE(IsTight(SpreadOf({0, 0, 0})));
}

}  // namespace
}  // namespace slimgraph::experiment
