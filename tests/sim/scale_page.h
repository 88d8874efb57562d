// A page with plots of what `simulate scale` has measured.
#pragma once

#include <string>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph::test {

struct MeasuredPoint {
  std::string work;
  std::string network;
  NodeId nodes = 0;
  double ms = 0;  // simulated, for a unit of work
  // Of a node on average.
  double messages = 0;
  double operations = 0;
  double bytes = 0;
};

// `command`: the command line that has measured the points. A work of fewer than two numbers of
// nodes has no plots.
std::string ScalePage(const std::vector<MeasuredPoint>& points, const std::string& command,
                      const std::string& graph);

}  // namespace slimgraph::test
