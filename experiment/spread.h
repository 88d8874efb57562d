// What repeated measurements of one thing say: a median, and how far it can be trusted.
#pragma once

#include <cstddef>
#include <vector>

namespace slimgraph::experiment {

// `low` … `high` holds the true median nine times of ten, whatever the distribution, from five
// samples on (order statistics, by the binomial distribution); of fewer it is all of them.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t samples = 0;

  bool overlaps(const Spread& other) const { return low <= other.high && other.low <= high; }
  // Half the spread over the median.
  double relative() const;
};

// Of at least one sample.
Spread SpreadOf(std::vector<double> samples);

// Three samples or more, within 5 % to each side.
bool IsTight(const Spread& spread);

}  // namespace slimgraph::experiment
