#include "experiment/page/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slimgraph::experiment {
namespace {

constexpr double kWishedSteps = 5;

// 1, 2 or 5 times a power of ten, at least `step`.
double RoundStep(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(double least, double greatest, bool logarithmic, double from_px, double to_px)
    : low_(least), high_(greatest), logarithmic_(logarithmic), from_px_(from_px), to_px_(to_px) {
  if (logarithmic_) {
    // Ticks at 1, 2 and 5 of each decade if there are few decades, else at powers of ten.
    const int first = static_cast<int>(std::floor(std::log10(least) + 1e-9));
    const int last = static_cast<int>(std::ceil(std::log10(greatest) - 1e-9));
    const bool fine = last - first <= 3;
    std::vector<double> all;
    for (int exponent = first; exponent <= std::max(last, first + 1); ++exponent) {
      all.push_back(std::pow(10, exponent));
      if (fine) all.insert(all.end(), {2 * all.back(), 5 * all.back()});
    }
    for (const double tick : all) {
      if (tick <= least * (1 + 1e-9)) low_ = tick;
    }
    high_ = *std::find_if(all.begin(), all.end(), [&](double tick) {
      return tick >= greatest * (1 - 1e-9) && tick > low_;
    });
    const int every = std::max(1, (last - first + 7) / 8);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool shown = fine || i % static_cast<std::size_t>(every) == 0;
      if (shown && all[i] >= low_ * (1 - 1e-9) && all[i] <= high_ * (1 + 1e-9)) {
        ticks_.push_back(all[i]);
      }
    }
    return;
  }
  if (!(greatest > least)) high_ = greatest = least + (least == 0 ? 1 : std::abs(least));
  const double step = RoundStep((greatest - least) / kWishedSteps);
  low_ = std::floor(least / step + 1e-9) * step;
  high_ = std::ceil(greatest / step - 1e-9) * step;
  for (double tick = low_; tick <= high_ + step / 2; tick += step) {
    ticks_.push_back(std::abs(tick) < step / 2 ? 0 : tick);
  }
}

double Axis::ToPixels(double value) const {
  const double share = logarithmic_
                           ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                           : (value - low_) / (high_ - low_);
  return from_px_ + share * (to_px_ - from_px_);
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 1e-4 || size == 0) return fmt::format("{:.3g}", value);
  return fmt::format("{:.1e}", value);
}

}  // namespace slimgraph::experiment
