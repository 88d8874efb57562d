#include "experiment/spread.h"

#include <algorithm>
#include <cmath>

namespace slimgraph::experiment {
namespace {

constexpr double kTrust = 0.9;
constexpr double kTight = 0.05;
constexpr std::size_t kLeastSamples = 3;

// How many samples may be left out at each end so that the rest contains the median with the
// probability kTrust. The median is below the k-th smallest sample with the probability of fewer
// than k heads in n throws of a coin.
std::size_t LeaveOut(std::size_t n) {
  double heads = std::pow(0.5, static_cast<double>(n));  // the probability of exactly k heads
  double below = 0;
  for (std::size_t k = 0; 2 * k + 1 < n; ++k) {
    below += heads;
    if (1 - 2 * below < kTrust) return k == 0 ? 0 : k - 1;
    heads *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return 0;
}

}  // namespace

double Spread::relative() const { return low == high ? 0 : (high - low) / 2 / std::abs(median); }

Spread SpreadOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  const double median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  const std::size_t out = LeaveOut(n);
  return {median, samples[out], samples[n - 1 - out], n};
}

bool IsTight(const Spread& spread) {
  return spread.samples >= kLeastSamples && spread.relative() <= kTight;
}

}  // namespace slimgraph::experiment
