#include "dgemini/internal/wide_number.h"

#include <gtest/gtest.h>

#include <random>

namespace slimgraph::dgemini {
namespace {

constexpr double kPrecision = 0x1p-48;

TEST(WideNumber, AddsMultipliesAndDividesAsDoublesDo) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponents(-300, 300);
  for (int i = 0; i < 100'000; ++i) {
    const double a = std::exp2(exponents(random));
    const double b = i % 3 == 0 ? a * 0.75 : std::exp2(exponents(random));
    EXPECT_NEAR(double(WideNumber(a)) / a, 1, kPrecision);
    EXPECT_NEAR(double(WideNumber(a) + WideNumber(b)) / (a + b), 1, 3 * kPrecision);
    EXPECT_NEAR(double(WideNumber(a) * WideNumber(b)) / (a * b), 1, 3 * kPrecision);
    EXPECT_NEAR(double(WideNumber(a) / WideNumber(b)) / (a / b), 1, 3 * kPrecision);
  }
}

TEST(WideNumber, RepresentsZero) {
  const WideNumber zero;
  EXPECT_EQ(double(zero), 0);
  EXPECT_EQ(zero, WideNumber(0.0));
  EXPECT_EQ(double(zero + WideNumber(3)), 3);
  EXPECT_EQ(double(zero * WideNumber(3)), 0);
}

TEST(WideNumber, HoldsWhatADoubleCannot) {
  WideNumber product(1.0);
  for (int i = 0; i < 30'000; ++i) product = product * WideNumber(2);
  EXPECT_FALSE(product.overflown());
  WideNumber back = product + product;
  for (int i = 0; i < 30'000; ++i) back = back / WideNumber(2);
  EXPECT_EQ(double(back), 2);
  for (int i = 0; i < 3'000; ++i) product = product * WideNumber(2);
  EXPECT_TRUE(product.overflown());
}

}  // namespace
}  // namespace slimgraph::dgemini
