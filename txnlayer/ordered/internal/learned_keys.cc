#include "txnlayer/ordered/internal/learned_keys.h"

#include <algorithm>
#include <cmath>

namespace slimgraph::txn {
namespace {

constexpr std::size_t kKeysPerLine = 64;

std::size_t Clamp(double value, std::size_t most) {
  return value <= 0 ? 0 : std::min(most, static_cast<std::size_t>(value));
}

}  // namespace

LearnedKeys::LearnedKeys(std::vector<Key> keys) : keys_(std::move(keys)) {
  if (keys_.empty()) return;
  const std::size_t count = keys_.size();
  lines_.resize(count / kKeysPerLine + 1);
  root_ = Fit(keys_.data(), count, 0);
  const double share = static_cast<double>(lines_.size()) / static_cast<double>(count);
  root_.slope *= share;
  root_.base *= share;
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t number = LineOf(keys_[begin]);
    std::size_t end = begin + 1;
    while (end < count && LineOf(keys_[end]) == number) ++end;
    Line& line = lines_[number];
    line = Fit(&keys_[begin], end - begin, begin);
    double least = 0;
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double error = static_cast<double>(i) - line.At(keys_[i]);
      least = std::min(least, error);
      most = std::max(most, error);
    }
    // A key between two of the array belongs to the index of the one before it.
    line.least_error = static_cast<std::int32_t>(std::floor(least)) - 1;
    line.most_error = static_cast<std::int32_t>(std::ceil(most));
    begin = end;
  }
}

LearnedKeys::Line LearnedKeys::Fit(const Key* keys, std::size_t count, std::size_t base) {
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

std::size_t LearnedKeys::LineOf(Key key) const { return Clamp(root_.At(key), lines_.size() - 1); }

std::size_t LearnedKeys::Find(Key key) const {
  const std::size_t last = keys_.size() - 1;
  const Line& line = lines_[LineOf(key)];
  const double guess = line.At(key);
  std::size_t from = Clamp(guess + line.least_error, last);
  std::size_t to = Clamp(guess + line.most_error, last) + 1;
  const bool inside = keys_[from] <= key && (to > last || key < keys_[to]);
  if (!inside) {
    from = 0;
    to = keys_.size();
  }
  const auto above = std::upper_bound(keys_.begin() + static_cast<std::ptrdiff_t>(from),
                                      keys_.begin() + static_cast<std::ptrdiff_t>(to), key);
  return static_cast<std::size_t>(above - keys_.begin()) - 1;
}

double LearnedKeys::mean_window() const {
  double sum = 0;
  for (const Key key : keys_) {
    const Line& line = lines_[LineOf(key)];
    sum += line.most_error - line.least_error + 1;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, keys_.size()));
}

std::uint64_t LearnedKeys::bytes() const {
  return keys_.capacity() * sizeof(Key) + lines_.capacity() * sizeof(Line);
}

}  // namespace slimgraph::txn
