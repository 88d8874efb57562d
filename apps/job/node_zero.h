// Node 0 of a job that survives deaths runs in a child of the command's process, so that its own
// death is survived, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/handover_keeper.h"

namespace slimgraph {

// The deaths of nodes without a step of the program in between. A job goes on after three.
class DeathsInStep {
 public:
  // Adds one in that step. Returns an error with `what` if they are too many.
  Status Add(std::uint64_t step, const std::string& what);

 private:
  int deaths_ = 0;
  std::uint64_t step_ = 0;
};

// The processes of node 0 before this one.
struct NodeZerosBefore {
  int deaths = 0;
  std::uint64_t began_ns = 0;  // when the job began
};

// Calls `run` in a child process, and again in another one if that dies by a signal that nobody
// sends on purpose, or is stopped for some seconds, unless its result is written. Returns in a
// child what `run` has returned, and in this process the exit code of the last child; ends this
// process by the signal that has ended that one.
int RunInChild(const std::function<int(HandoverKeeper&, const NodeZerosBefore&)>& run);

}  // namespace slimgraph
