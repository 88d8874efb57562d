// Marks a stage of a run. While the object lives, its time is measured, a trace span is recorded,
// and the endpoint's traffic is counted for that stage.
#pragma once

#include "slimgraph/fabric/endpoint.h"
#include "slimgraph/stats/stage_times.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {

// A stage's name and number. Construct it once: `const Stage kFetch("fetch");`
struct Stage {
  explicit Stage(const char* stage_name) : name(stage_name), id(StageNamed(stage_name)) {}
  const char* name;
  StageId id;
};

class StageScope {
 public:
  StageScope(Endpoint& endpoint, StageSeconds& seconds, const Stage& stage)
      : endpoint_(endpoint),
        before_(endpoint.stage()),
        timer_(seconds, stage.id),
        span_(stage.name, endpoint.address().endpoint) {
    endpoint_.SetStage(stage.id);
  }
  ~StageScope() { endpoint_.SetStage(before_); }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  Endpoint& endpoint_;
  StageId before_;
  StageTimer timer_;
  TraceSpan span_;
};

}  // namespace slimgraph
