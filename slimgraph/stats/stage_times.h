// How much time a thread has spent in each stage.
#pragma once

#include <array>

#include "slimgraph/base/clock.h"
#include "slimgraph/stats/stage.h"

namespace slimgraph {

using StageSeconds = std::array<double, kMaxStages>;

// Adds its own lifetime to a stage's time.
class StageTimer {
 public:
  StageTimer(StageSeconds& seconds, StageId stage) : of_stage_(seconds[stage]) {}
  ~StageTimer() { of_stage_ += SecondsSince(start_ns_); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& of_stage_;
  std::uint64_t start_ns_ = NowNs();
};

}  // namespace slimgraph
