// Converts numbers to pixel positions on a plot, and chooses the numbers written at an axis.
#pragma once

#include <string>
#include <vector>

namespace slimgraph::experiment {

class Axis {
 public:
  // `least` is at `from_px`, `greatest` at `to_px`; both must be positive on a logarithmic axis.
  // The ends are moved outward to round numbers.
  Axis(double least, double greatest, bool logarithmic, double from_px, double to_px);

  double ToPixels(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }
  double low() const { return low_; }

 private:
  double low_;
  double high_;
  bool logarithmic_;
  double from_px_;
  double to_px_;
  std::vector<double> ticks_;
};

// 1234567 -> "1.23 M", 0.00012 -> "0.00012"; short, for ticks and tables.
std::string ShortNumber(double value);

}  // namespace slimgraph::experiment
