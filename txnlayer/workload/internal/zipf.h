// Numbers 0 .. n-1 with Zipf's distribution: number k is drawn in proportion to 1/(k+1)^theta. By
// the method of Gray et al., SIGMOD 1994, which takes the same time for each draw.
#pragma once

#include <algorithm>
#include <cmath>

#include "txnlayer/workload/internal/random.h"

namespace slimgraph::txn {

class Zipf {
 public:
  // `theta` from 0 (all alike) to less than 1.
  Zipf(std::uint64_t n, double theta) : n_(n), theta_(theta) {
    for (std::uint64_t k = n; k > 0; --k) zeta_ += std::pow(static_cast<double>(k), -theta);
    const double two = 1 + std::pow(2, -theta);
    eta_ = (1 - std::pow(2 / static_cast<double>(n), 1 - theta)) / (1 - two / zeta_);
  }

  std::uint64_t Draw(Random& random) const {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    const double share = uniform * zeta_;
    if (share < 1 || n_ < 2) return 0;
    if (share < 1 + std::pow(0.5, theta_) || n_ < 3) return 1;
    const double drawn =
        static_cast<double>(n_) * std::pow(eta_ * uniform - eta_ + 1, 1 / (1 - theta_));
    return std::min(n_ - 1, static_cast<std::uint64_t>(drawn));
  }

 private:
  std::uint64_t n_;
  double theta_;
  double zeta_ = 0;
  double eta_ = 0;
};

}  // namespace slimgraph::txn
