// The median of repeated measurements, and how precise it is.
#pragma once

#include <cstddef>
#include <vector>

namespace slimgraph::experiment {

// `low` … `high` contains the true median with a probability of at least 0.9 for any distribution,
// from five samples on (order statistics, by the binomial distribution). With fewer samples it is
// the range of all samples.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t samples = 0;

  bool overlaps(const Spread& other) const { return low <= other.high && other.low <= high; }
  // Half the width of the range, divided by the median.
  double relative() const;
};

// Needs at least one sample.
Spread SpreadOf(std::vector<double> samples);

// Whether there are at least three samples, in a range at most 10 % of the median wide.
bool IsTight(const Spread& spread);

}  // namespace slimgraph::experiment
