#include "slimgraph/base/learned_search.h"

#include <algorithm>
#include <cmath>

namespace slimgraph {
namespace {

constexpr std::size_t kKeysPerLine = 64;

std::size_t Clamp(double value, std::size_t most) {
  return value <= 0 ? 0 : std::min(most, static_cast<std::size_t>(value));
}

}  // namespace

LearnedSearch::LearnedSearch(Keys keys) {
  if (keys.empty()) return;
  const std::size_t count = keys.size();
  lines_.resize(count / kKeysPerLine + 1);
  root_ = Fit(keys, 0);
  const double share = static_cast<double>(lines_.size()) / static_cast<double>(count);
  root_.slope *= share;
  root_.base *= share;
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t number = LineOf(keys[begin]);
    std::size_t end = begin + 1;
    while (end < count && LineOf(keys[end]) == number) ++end;
    Line& line = lines_[number];
    line = Fit(keys.subspan(begin, end - begin), begin);
    double least = 0;
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double error = static_cast<double>(i) - line.At(keys[i]);
      least = std::min(least, error);
      most = std::max(most, error);
    }
    // A key between two of the array belongs to the index of the one before it.
    line.least_error = static_cast<std::int64_t>(std::floor(least)) - 1;
    line.most_error = static_cast<std::int64_t>(std::ceil(most));
    begin = end;
  }
}

LearnedSearch::Line LearnedSearch::Fit(Keys keys, std::size_t base) {
  const std::size_t count = keys.size();
  Line line{.first = keys[0], .base = static_cast<double>(base)};
  if (count == 1) return line;
  const double n = static_cast<double>(count);
  double mean_x = 0;
  for (std::size_t i = 0; i < count; ++i) mean_x += static_cast<double>(keys[i] - keys[0]) / n;
  const double mean_y = (n - 1) / 2;
  double covariance = 0;
  double variance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(keys[i] - keys[0]) - mean_x;
    covariance += x * (static_cast<double>(i) - mean_y);
    variance += x * x;
  }
  line.slope = covariance / variance;
  line.base += mean_y - line.slope * mean_x;
  return line;
}

std::size_t LearnedSearch::LineOf(std::uint64_t key) const {
  return Clamp(root_.At(key), lines_.size() - 1);
}

std::size_t LearnedSearch::Find(Keys keys, std::uint64_t key) const {
  const std::size_t last = keys.size() - 1;
  const Line& line = lines_[LineOf(key)];
  const double guess = line.At(key);
  std::size_t from = Clamp(guess + static_cast<double>(line.least_error), last);
  std::size_t to = Clamp(guess + static_cast<double>(line.most_error), last) + 1;
  const bool inside = keys[from] <= key && (to > last || key < keys[to]);
  if (!inside) {
    from = 0;
    to = keys.size();
  }
  const auto above = std::upper_bound(keys.begin() + static_cast<std::ptrdiff_t>(from),
                                      keys.begin() + static_cast<std::ptrdiff_t>(to), key);
  return static_cast<std::size_t>(above - keys.begin()) - 1;
}

double LearnedSearch::MeanWindow(Keys keys) const {
  double sum = 0;
  for (const std::uint64_t key : keys) {
    const Line& line = lines_[LineOf(key)];
    sum += static_cast<double>(line.most_error - line.least_error + 1);
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, keys.size()));
}

}  // namespace slimgraph
