// Asks a step whether it defers a vertex. Used by push steps and by pull steps.
#pragma once

#include "dgemini/step.h"
#include "dgemini/workload.h"

namespace slimgraph::dgemini {

// Whether `v` is a vertex of the share that the step defers instead of activating it.
template <typename Step, typename... Before>
bool IsDeferred(const Workload& work, bool alone, Step& step, std::uint32_t thread, VertexId v,
                Before... before) {
  if constexpr (Defers<Step, Before...>) {
    return (alone || work.mine(v)) && step.Defers(thread, v, before...);
  }
  return false;
}

}  // namespace slimgraph::dgemini
